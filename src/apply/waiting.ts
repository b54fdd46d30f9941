import { type EffectIo, ProviderError, type Receipt } from '../providers/contract.ts';

/** Lets time pass. Throws `ProviderError` when the run is to stop meanwhile. */
export async function letPass(milliseconds: number, io: EffectIo): Promise<Receipt> {
  io.progress(`waiting ${milliseconds / 1000} s`, { seconds: milliseconds / 1000 });
  try {
    await io.clock.sleep(milliseconds, io.signal);
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new ProviderError('OTHER', 'The wait was broken off.', { cause: error });
  }
  return {};
}

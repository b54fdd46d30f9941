import { type EffectIo, ProviderError, type Run } from '../providers/contract.ts';

/** What the service manager of the machine says of a unit. */
export interface UnitState {
  readonly unit: string;
  readonly active: boolean;
  /** Whether it starts by itself with the machine. */
  readonly enabled: boolean;
  /** When it became active, in microseconds of the machine's clock; 0 for one that is not. */
  readonly since: number;
}

const QUICK = 30_000;
/** A unit stops in its own way and time. */
const PATIENT = 5 * 60_000;

/** The states of the named units. One that the machine does not know is neither active nor enabled. Throws `ProviderError` when that cannot be told. */
export async function findUnits(units: readonly string[], io: EffectIo): Promise<readonly UnitState[]> {
  const states: UnitState[] = [];
  for (const unit of units) states.push(await unitState(unit, io));
  return states;
}

async function unitState(unit: string, io: EffectIo): Promise<UnitState> {
  const properties = 'LoadState,ActiveState,UnitFileState,ActiveEnterTimestampMonotonic';
  const argv = ['systemctl', 'show', `--property=${properties}`, '--', unit] as const;
  const said = await io.host.inspect(argv, { signal: io.signal, timeout: QUICK });
  const facts = new Map(
    said.stdout.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).trim()]),
  );
  const active = facts.get('ActiveState') ?? '';
  if (said.code !== 0 || active === '') {
    throw new ProviderError('UNREACHABLE', `systemctl does not tell the state of the unit ${unit} (code ${said.code}).`, {
      lines: linesOf(said),
    });
  }
  return {
    unit,
    active: active !== 'inactive' && active !== 'failed',
    enabled: facts.get('UnitFileState') === 'enabled',
    since: Number(facts.get('ActiveEnterTimestampMonotonic') ?? 0) || 0,
  };
}

/** Stops a unit and takes its autostart away. Throws `ProviderError` when the service manager refuses. */
export async function stopUnit({ unit, active, enabled }: UnitState, io: EffectIo): Promise<void> {
  if (enabled) await control('disable', unit, io);
  if (active) await control('stop', unit, io);
}

/** Gives a unit its autostart back, and starts it, as far as it had them. Throws `ProviderError` when the service manager refuses. */
export async function startUnit({ unit, active, enabled }: UnitState, io: EffectIo): Promise<void> {
  if (enabled) await control('enable', unit, io);
  if (active) await control('start', unit, io);
}

async function control(verb: 'disable' | 'stop' | 'enable' | 'start', unit: string, io: EffectIo): Promise<void> {
  const said = await io.host.run(['systemctl', verb, '--', unit], { signal: io.signal, timeout: PATIENT });
  if (said.code === 0) return;
  throw new ProviderError('OTHER', `systemctl ${verb} of the unit ${unit} ended with the code ${said.code}.`, { lines: linesOf(said) });
}

function linesOf({ stdout, stderr }: Run): readonly string[] {
  return `${stdout}\n${stderr}`
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-10);
}

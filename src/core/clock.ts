/** Where time comes from. Wall time is for people and expiry, the monotonic time for deadlines and durations. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never steps. */
  monotonic(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Where identifiers come from. */
export interface IdSource {
  /** 128 random bits as 32 lower-case hexadecimal digits. */
  id(): string;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

/** A clock whose wall time never goes back, so that what ends never ends before it began, however the machine's clock is set meanwhile. */
export function steadyClock(inner: Clock): Clock {
  let latest = Number.NEGATIVE_INFINITY;
  return {
    ...inner,
    now: () => {
      latest = Math.max(latest, inner.now());
      return latest;
    },
  };
}

export const randomIds: IdSource = {
  id: () => globalThis.crypto.randomUUID().replaceAll('-', ''),
};

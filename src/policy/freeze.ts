import type { FreezeWindow } from './policy.ts';

/** A window that is open at a moment, and when it ends. */
export interface Frozen {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

const MINUTE = 60_000;
const WEEK = 7 * 24 * 60;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/**
 * The windows that keep any of these classes off at a moment, in the order of the policy. A window that makes an exception of every class that
 * is asked for lets it through.
 */
export function frozenBy(windows: readonly FreezeWindow[], classes: readonly string[], now: number): readonly Frozen[] {
  return windows.flatMap((window): readonly Frozen[] => {
    if (classes.every((name) => window.except.includes(name))) return [];
    const until = window.weekly === undefined ? endOfDates(window, now) : endOfWeekly(window.weekly, now);
    return until === undefined ? [] : [{ name: window.name, until }];
  });
}

/** A window with one end left out is open to that side. */
function endOfDates({ from, until }: FreezeWindow, now: number): number | undefined {
  if (from === undefined && until === undefined) return undefined;
  const begin = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const end = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
  return begin <= now && now < end ? end : undefined;
}

function endOfWeekly(weekly: NonNullable<FreezeWindow['weekly']>, now: number): number | undefined {
  const [from, until] = [minuteOfWeek(weekly.from), minuteOfWeek(weekly.until)];
  const at = localMinute(now, weekly.timezone);
  if (from === undefined || until === undefined || at === undefined) return undefined;
  const isInside = from < until ? from <= at && at < until : at >= from || at < until;
  if (!isInside) return undefined;
  const whole = Math.floor(now / MINUTE) * MINUTE;
  let end = whole + (modulo(until - at) || WEEK) * MINUTE;
  // Clocks may be put forward or back inside of the window.
  const shown = localMinute(end, weekly.timezone) ?? until;
  const off = modulo(until - shown + WEEK / 2) - WEEK / 2;
  end += off * MINUTE;
  return end;
}

/** `fri 16:00` as minutes since Monday 00:00. */
function minuteOfWeek(text: string): number | undefined {
  const match = /^([a-z]{3}) (\d{2}):(\d{2})$/.exec(text);
  const day = DAYS.findIndex((name) => name === match?.[1]);
  return match === null || day < 0 ? undefined : day * 24 * 60 + Number(match[2]) * 60 + Number(match[3]);
}

/** The minute of the week that clocks show in a time zone; undefined for a zone that this machine does not know. */
function localMinute(moment: number, timeZone: string): number | undefined {
  let parts: readonly Intl.DateTimeFormatPart[];
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    parts = format.formatToParts(moment);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
  const part = (type: string) => parts.find((item) => item.type === type)?.value ?? '';
  return minuteOfWeek(`${part('weekday').toLowerCase()} ${part('hour')}:${part('minute')}`);
}

function modulo(minutes: number): number {
  return ((minutes % WEEK) + WEEK) % WEEK;
}

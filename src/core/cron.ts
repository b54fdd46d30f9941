/** One field of a schedule: which numbers it takes, and which names stand for some of them. */
interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names: readonly string[];
}

const MINUTE: Field = { name: 'minute', least: 0, most: 59, names: [] };
const HOUR: Field = { name: 'hour', least: 0, most: 23, names: [] };
const DAY: Field = { name: 'day of the month', least: 1, most: 31, names: [] };
const MONTH: Field = {
  name: 'month',
  least: 1,
  most: 12,
  names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
};
/** 7 is Sunday too. */
const WEEKDAY: Field = { name: 'day of the week', least: 0, most: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] };
const FIELDS: readonly Field[] = [MINUTE, HOUR, DAY, MONTH, WEEKDAY];

const SHORTHANDS: { readonly [word: string]: string } = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** February 29 comes at most eight years after the last one. */
const FARTHEST_DAYS = 8 * 366 + 1;
const DAY_MS = 24 * 3600 * 1000;

/** A schedule in the five fields of cron, in UTC. Where both days are restricted, either is enough, as cron has it. */
export interface Cron {
  /** The one spelling of all that mean the same field by field: numbers for names, one space, no shorthand. */
  readonly text: string;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  readonly eitherDay: boolean;
}

/** Reads a schedule; a sentence that says what is wrong when it is none, or one that never comes. */
export function parseCron(text: string): Cron | string {
  const words = text.trim().toLowerCase();
  if (words.startsWith('@') && SHORTHANDS[words] === undefined)
    return `${text.trim()} is no shorthand; there are ${Object.keys(SHORTHANDS).join(', ')}`;
  const parts = (SHORTHANDS[words] ?? words).split(/\s+/);
  if (parts.length !== FIELDS.length) return 'a schedule has five fields: minute, hour, day of the month, month, day of the week';
  const sets: ReadonlySet<number>[] = [];
  const spelled: string[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const part = spell(parts[index] ?? '', field);
    const values = valuesOf(part, field);
    if (typeof values === 'string') return values;
    sets.push(values);
    spelled.push(part);
  }
  const [minutes, hours, days, months, weekdays] = sets as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  if (weekdays.has(7)) weekdays.add(0);
  const eitherDay = !(spelled[2] ?? '').startsWith('*') && !(spelled[4] ?? '').startsWith('*');
  const cron = { text: spelled.join(' '), minutes, hours, days, months, weekdays, eitherDay };
  return nextTime(cron, 0) === undefined ? `${cron.text} never comes: no such month has that day` : cron;
}

/** The first time after `after` at which the schedule falls due, both in milliseconds since 1970; undefined when it never does. */
export function nextTime(cron: Cron, after: number): number | undefined {
  const first = Math.floor(after / 60_000) * 60_000 + 60_000;
  const midnight = Math.floor(first / DAY_MS) * DAY_MS;
  for (let day = 0; day < FARTHEST_DAYS; day++) {
    const date = new Date(midnight + day * DAY_MS);
    if (!isDue(cron, date)) continue;
    for (const hour of sorted(cron.hours)) {
      for (const minute of sorted(cron.minutes)) {
        const at = date.getTime() + (hour * 60 + minute) * 60_000;
        if (at >= first) return at;
      }
    }
  }
  return undefined;
}

function isDue(cron: Cron, date: Date): boolean {
  if (!cron.months.has(date.getUTCMonth() + 1)) return false;
  const [isDay, isWeekday] = [cron.days.has(date.getUTCDate()), cron.weekdays.has(date.getUTCDay())];
  return cron.eitherDay ? isDay || isWeekday : isDay && isWeekday;
}

function sorted(values: ReadonlySet<number>): readonly number[] {
  return [...values].sort((a, b) => a - b);
}

/** The field with numbers in place of names. */
function spell(part: string, field: Field): string {
  return part.replace(/[a-z]+/g, (word) => {
    const index = field.names.indexOf(word);
    return index === -1 ? word : String(index + (field === MONTH ? 1 : 0));
  });
}

function valuesOf(part: string, field: Field): ReadonlySet<number> | string {
  const values = new Set<number>();
  for (const item of part.split(',')) {
    const found = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(item);
    if (found === null) return `${item === '' ? 'nothing' : item} is no ${field.name}`;
    const [, from, to, step] = found;
    const first = from === undefined ? field.least : Number(from);
    // A number with a step goes on to the end, as a star does.
    const last = to !== undefined ? Number(to) : from === undefined || step !== undefined ? field.most : first;
    const by = step === undefined ? 1 : Number(step);
    if (first < field.least || last > field.most) return `${item} is no ${field.name}: it goes from ${field.least} to ${field.most}`;
    if (last < first) return `${item} is no ${field.name}: it ends before it begins`;
    if (by === 0) return `${item} is no ${field.name}: a step is 1 or more`;
    for (let value = first; value <= last; value += by) values.add(value);
  }
  return values;
}

/**
 * The number of a user or group in the text of `/etc/passwd` or `/etc/group`, where both keep it in the third field. The first line of a
 * name counts, as for the C library. Undefined when the name is not there or its line is damaged.
 */
export function accountNumber(table: string, name: string): number | undefined {
  for (const line of table.split('\n')) {
    const fields = line.split(':');
    if (fields[0] !== name) continue;
    const number = fields[2] ?? '';
    return /^\d{1,10}$/.test(number) ? Number(number) : undefined;
  }
  return undefined;
}

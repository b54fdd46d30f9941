/** JSON for people: indented, in the order in which it was built. */
export function renderJson(data: unknown): string {
  return `${JSON.stringify(data, null, 2)}\n`;
}

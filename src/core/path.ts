/**
 * The path of an attribute inside of a resource: `environment.LOG_LEVEL`, `ports[0].target`, `configs["/etc/app.json"].content`. One text
 * form everywhere: in plans, in `ignore_changes`, in diagnostics.
 */
export type AttributePath = string;
export type PathSegment = string | number;

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function formatPath(segments: readonly PathSegment[]): AttributePath {
  let text = '';
  for (const segment of segments) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (PLAIN.test(segment)) text += text === '' ? segment : `.${segment}`;
    else text += `[${JSON.stringify(segment)}]`;
  }
  return text;
}

/** Reads the text form, or answers undefined when it is not one. */
export function parsePath(text: string): readonly PathSegment[] | undefined {
  const segments: PathSegment[] = [];
  const token = /\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (match === null || (at === 0 && text.startsWith('.'))) return undefined;
    const [, name, index, quoted] = match;
    if (name !== undefined) segments.push(name);
    else if (index !== undefined) segments.push(Number(index));
    else if (quoted !== undefined) segments.push(JSON.parse(quoted) as string);
  }
  return segments.length === 0 ? undefined : segments;
}

/** Whether `path` is `prefix` or lies below it. */
export function isBelow(path: AttributePath, prefix: AttributePath): boolean {
  return path === prefix || (path.startsWith(prefix) && (path[prefix.length] === '.' || path[prefix.length] === '['));
}

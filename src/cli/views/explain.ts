import type { FoundCode } from '../../core/codes/search.ts';
import type { SourceRange } from '../../core/diagnostic.ts';
import type { CauseLink, Edge, Wait } from '../../plan/explain.ts';
import type { PlannedStep } from '../../plan/model.ts';
import type { LineCommit } from '../line-commits.ts';
import { columns, oneLine, wrap } from './layout.ts';
import type { Style } from './terminal.ts';

/** A code in words. */
export function renderCodeExplanation(codes: readonly FoundCode[], { color, width }: Style): string {
  const blocks = codes.map(({ code, owner, summary, remedy, exit }) => [
    `${color.bold(code)}  ${color.dim(owner)}`,
    ...wrap(summary, width - 2).map((line) => `  ${line}`),
    ...wrap(remedy, width - 2).map((line) => `  ${line}`),
    `  ${color.dim(exit.length === 0 ? "exit: the program's own" : `exit: ${exit.join(', ')}`)}`,
  ]);
  return blocks.map((lines) => lines.join('\n')).join('\n\n');
}

/** What a resource is, where it comes from and what it is tied to. */
export function renderAddressExplanation(
  rows: {
    readonly address: string;
    readonly type: string | null;
    readonly provider: string | null;
    readonly role: string | null;
    readonly source: SourceRange | null;
    readonly origin: LineCommit | null;
    readonly needs: readonly string[];
    readonly neededBy: readonly string[];
    readonly recorded: { readonly ref: string | null; readonly status: string; readonly protected: boolean } | null;
    readonly planned: { readonly action: string; readonly reason: string; readonly steps: readonly string[] } | null;
    readonly causes: readonly CauseLink[];
    readonly causeOrigin: LineCommit | null;
  },
  { color }: Style,
): string {
  const { recorded, planned } = rows;
  const facts: (readonly [string, string])[] = [
    ['type', `${rows.type ?? 'unknown'}, provider ${rows.provider ?? 'unknown'}, role ${rows.role ?? 'unknown'}`],
    ['written', rows.source === null ? 'not in the documents' : `${placeText(rows.source)}${originText(rows.origin)}`],
    ['needs', rows.needs.length === 0 ? 'nothing' : rows.needs.join(', ')],
    ['needed by', rows.neededBy.length === 0 ? 'nothing' : rows.neededBy.join(', ')],
  ];
  if (planned !== null) facts.push(['plan', `${planned.action}: ${planned.reason}`]);
  if (planned !== null && planned.steps.length > 0) facts.push(['steps', planned.steps.join(', ')]);
  if (planned === null) facts.push(['recorded', recorded === null ? 'nothing' : recordedText(recorded)]);
  const lines = [color.bold(oneLine(rows.address)), ...columns(facts.map(([label, text]) => [`  ${label}`, oneLine(text)]))];
  return [...lines, ...causeLines(rows.causes, null, rows.causeOrigin)].join('\n');
}

function recordedText({
  ref,
  status,
  protected: isProtected,
}: {
  readonly ref: string | null;
  readonly status: string;
  readonly protected: boolean;
}) {
  return `${status}${isProtected ? ', protected' : ''}, ${ref ?? 'no live object'}`;
}

/** What a step is, what it waits for and why it is there. */
export function renderStepExplanation(
  rows: {
    readonly step: PlannedStep;
    readonly action: string | null;
    readonly waits: readonly Wait[];
    readonly before: readonly string[];
    readonly causes: readonly CauseLink[];
    readonly causeOrigin: LineCommit | null;
    readonly commit: string | null;
  },
  { color }: Style,
): string {
  const { step, action, waits, before, causes } = rows;
  const direction = {
    back: 'is taken back when a later step fails',
    forward: 'cannot be taken back',
    stays: 'stays when a later step fails',
  };
  const lines = [
    color.bold(oneLine(step.id)),
    ...columns([
      ['  part of', oneLine(`${action ?? 'a change'} of ${step.address}`)],
      ['  stage', `${step.stage}; ${PHASES[step.phase] ?? ''}`],
      ['  direction', direction[step.direction]],
    ]),
    color.bold('Waits for'),
    ...(waits.length === 0
      ? ['  nothing in its phase']
      : waits.flatMap((wait) => [
          `  ${oneLine(wait.step)}`,
          `    ${oneLine(wait.why)}`,
          ...wait.edges.map((edge) => `    ${edgeText(edge)}`),
        ])),
  ];
  if (before.length > 0) lines.push(color.bold('Before'), ...before.map((id) => `  ${oneLine(id)}`));
  return [...lines, ...causeLines(causes, rows.commit, rows.causeOrigin)].join('\n');
}

const PHASES: readonly string[] = [
  'before anything is changed',
  'after everything of preflight',
  'after all other work',
  'last, after everything has gone over to its successor',
];

/** The way back to what changed first. */
function causeLines(causes: readonly CauseLink[], commit: string | null, origin: LineCommit | null): readonly string[] {
  if (causes.length === 0) return [];
  const lines = causes.flatMap((link, position) => [
    `  ${position === 0 ? '' : '← '}${oneLine(`${link.address}  ${link.action}  ${link.reason}`)}`,
    ...link.places.map(
      ({ path, source }) =>
        `      ${path === '' ? 'written' : oneLine(path)} at ${source === null ? 'no place in the documents' : placeText(source)}`,
    ),
    ...link.through.map((edge) => `      through ${edgeText(edge)}`),
  ]);
  const last = originText(origin);
  const of = commit === null ? '' : `  planned at commit ${oneLine(commit)}`;
  return ['Why', ...lines, ...(last === '' ? [] : [`  that line${last}`]), ...(of === '' ? [] : [of])];
}

function edgeText({ from, kind, path, text, source }: Edge): string {
  const place = source === null ? '' : ` at ${placeText(source)}`;
  const what = {
    reference: `${path ?? ''} reads \${${text ?? ''}}`,
    precondition: `a precondition reads ${text ?? ''}`,
    depends_on: `depends_on ${text ?? ''}`,
    replace_triggered_by: 'replace_triggered_by',
  }[kind];
  return oneLine(`${from}: ${what}${place}`);
}

function placeText({ file, line, column }: SourceRange): string {
  return oneLine(`${file}:${line}:${column}`);
}

function originText(origin: LineCommit | null): string {
  if (origin === null) return '';
  if (origin.commit === null) return ', not committed yet';
  return oneLine(`, by commit ${origin.commit.slice(0, 12)}${origin.summary === null ? '' : ` "${origin.summary}"`}`);
}

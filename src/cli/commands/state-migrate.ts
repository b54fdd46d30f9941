import { relative } from 'node:path';
import { type Migrated, migrateState } from '../../apply/migrate.ts';
import type { StateLocation, StoreOptions } from '../../state/open.ts';
import { parseEditArguments } from '../arguments/edit.ts';
import { parseStatePlace, passwordsOf } from '../arguments/state-place.ts';
import { Flags, usageError } from '../arguments/values.ts';
import { actorOf } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { count } from '../views/layout.ts';
import { progressLines } from '../views/progress.ts';
import { failWith } from './failing.ts';
import { readingState } from './reading.ts';

/** `state migrate --to PLACE`: the state goes to another store, and the former one is taken out of use. */
export async function runStateMigrate(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseEditArguments(input, { operands: 0, addresses: [] });
  if (!args.ok) return failWith(shell, args.diagnostics);
  const to = new Flags(input.options).text('to');
  if (to === undefined) {
    return failWith(shell, [
      usageError('FLAG_MISSING', 'A flag is missing', 'Nothing says where the state is to go.', { expected: '--to PLACE' }),
    ]);
  }
  return await readingState(shell, args.value, async (_store, { environment, state, conceal }) => {
    const location = parseStatePlace('--to', to, { folder: environment.folder, environment: shell.environment });
    if (!location.ok) return failWith(shell, location.diagnostics);
    const target: StoreOptions = { ...state, location: location.value };
    conceal(passwordsOf(location.value));
    const moved = await migrateState(state, target, {
      actor: actorOf(shell),
      reason: args.value.reason,
      lockTimeout: args.value.lockTimeout,
      stop: shell.interrupts.stop,
      emit: (event) => shell.output.say(progressLines(event, shell.output.conversation).join('\n')),
    });
    if (!moved.ok) return failWith(shell, moved.diagnostics);
    if (shell.output.json) shell.output.document({ format: 'accede.migrate/v1', environment: environment.name, ...moved.value });
    else shell.output.print(sentence(environment, moved.value, location.value));
    return EXIT.done;
  });
}

function sentence({ name, folder }: { readonly name: string; readonly folder: string }, moved: Migrated, to: StateLocation): string {
  const { from, serial, epoch, resources, open, resumed } = moved;
  const lines = [
    `${resumed ? 'The move of the state is at its end' : 'Moved the state'} of ${name} from ${from} to ${moved.to}: ${count(resources, 'resource')}, state #${serial}, epoch ${epoch}.`,
    'Nothing is written to the former place any more, and it names the new one. Write the new one into the documents, and keep state.encryption as it is:',
    '',
    ...documents(folder, to).map((line) => `  ${line}`),
  ];
  if (open !== null) lines.push('', `${open} has not ended; it ends at the new place: accede status`);
  return lines.join('\n');
}

/** What `state` in the documents has to say from now on. */
function documents(folder: string, to: StateLocation): readonly string[] {
  if (to.backend === 'sqlite') {
    const path = relative(folder, to.path);
    return ['state:', '  backend: sqlite', `  path: ${JSON.stringify(path.startsWith('..') ? to.path : path)}`];
  }
  const { host, port, user, database, password, tls } = to.server;
  const files = (['ca', 'cert', 'key'] as const).flatMap((name) =>
    tls?.[name] === undefined ? [] : [`${name}: ${JSON.stringify(tls[name])}`],
  );
  const settings = [...files, ...(tls?.serverName === undefined ? [] : [`server_name: ${JSON.stringify(tls.serverName)}`])];
  return [
    'state:',
    '  backend: mysql',
    `  host: ${JSON.stringify(host)}`,
    `  port: ${port}`,
    `  user: ${JSON.stringify(user)}`,
    ...(password === undefined
      ? []
      : ['  password: "${secrets.state_password}"   # a secret that you name, as { env: ACCEDE_STATE_PASSWORD }']),
    `  database: ${JSON.stringify(database)}`,
    ...(to.prefix === 'accede_' ? [] : [`  prefix: ${to.prefix}`]),
    ...(tls === undefined ? [] : [`  tls: ${settings.length === 0 ? '{}' : `{ ${settings.join(', ')} }`}`]),
  ];
}

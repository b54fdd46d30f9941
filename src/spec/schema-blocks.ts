import { z } from 'zod';
import { GOVERNED_CLASSES } from '../core/successor-class.ts';
import { duration } from './duration.ts';

const text = () => z.string().min(1);

export const VARIABLE_TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'map', 'any'] as const;

export const variableSchema = z
  .strictObject({
    type: z.enum(VARIABLE_TYPES).optional().describe('What values it takes; string when left out.'),
    default: z.unknown().optional().describe('The value when nobody gives one. Without it a value must be given.'),
    description: z.string().optional().describe('What it is for.'),
  })
  .describe('A variable.');
export type VariableBlock = z.infer<typeof variableSchema>;

const format = z.enum(['text', 'json']).optional().describe('json: many values at once, read as ${secrets.NAME.KEY}.');

export const secretSchema = z
  .union([
    z.strictObject({ env: text().describe('Name of an environment variable.'), format }),
    z.strictObject({ file: text().describe('Path of a file with mode 0600, relative to the document.'), format }),
    z.strictObject({ exec: z.array(z.string()).min(1).describe('A program and its arguments; its output is the value.'), format }),
  ])
  .describe('Where a secret comes from: env, file or exec.');
export type SecretBlock = z.infer<typeof secretSchema>;

export const encryptionSchema = z.union([
  z.strictObject({
    key_file: text().describe(
      'File with a key of 32 bytes, as they are or in hexadecimal or base64, mode 0600. Relative to the environment.',
    ),
  }),
  z.strictObject({ passphrase: text().describe('A passphrase of 16 characters or more, from a secret.') }),
]);

export const stateSchema = z
  .union([
    z.strictObject({
      backend: z.literal('sqlite').describe('A SQLite file.'),
      path: text().optional().describe('Path of the file, relative to the environment; .accede/state.db when left out.'),
      encryption: encryptionSchema
        .optional()
        .describe('The key of secrets that the state keeps: those that Accede makes, and former ones for the way back.'),
    }),
    z.strictObject({
      backend: z.literal('mysql').describe('Tables in a database of TiDB, MySQL or MariaDB.'),
      url: text().optional().describe('mysql://USER:PASSWORD@HOST:PORT/DATABASE, from a secret. Or the parts by themselves.'),
      host: text().optional().describe('Name or address of the server.'),
      port: z.int().min(1).max(65_535).optional().describe('Port of the server; 3306 when left out. TiDB listens at 4000.'),
      user: text().optional().describe('Account on the server.'),
      password: text().optional().describe('Password of the account, from a secret.'),
      database: text().optional().describe('Database for the tables. It must exist; several environments may share it.'),
      tls: z
        .strictObject({
          ca: text().optional().describe('Certificate of who vouches for the server; those that the machine trusts when it is left out.'),
          cert: text().optional().describe('Certificate to show to the server.'),
          key: text().optional().describe('Key of that certificate.'),
          server_name: text().optional().describe("Name in the server's certificate; the host when left out."),
        })
        .refine((tls) => (tls.cert === undefined) === (tls.key === undefined), { error: 'cert and key together, or neither' })
        .optional()
        .describe(
          'Files for TLS, relative to the environment. {} trusts what the machine trusts; without tls the connection is not encrypted.',
        ),
      prefix: z
        .string()
        .regex(/^[a-z][a-z0-9_]{0,30}_$/, 'lower-case letters, digits and _, with _ at the end')
        .optional()
        .describe('What the names of the tables begin with; accede_ when left out.'),
      encryption: encryptionSchema
        .optional()
        .describe('The key of secrets that the state keeps: those that Accede makes, and former ones for the way back.'),
    }),
  ])
  .describe('Where the state is kept.');

const classSet = () => z.array(z.enum(GOVERNED_CLASSES));
/** What a freeze window may let through: `rollback` is going back, whatever its class. */
const exceptions = () => z.array(z.enum([...GOVERNED_CLASSES, 'rollback']));

const moment = () => z.iso.datetime({ offset: true, error: 'a time such as 2026-12-20T00:00:00+01:00' });
const weekday = () =>
  z.string().regex(/^(?:mon|tue|wed|thu|fri|sat|sun) (?:[01]\d|2[0-3]):[0-5]\d$/, 'a day and a time such as "fri 16:00"');

const freeze = z.strictObject({
  name: text().describe('What the window is called.'),
  from: moment().optional().describe('When it begins.'),
  until: moment().optional().describe('When it ends.'),
  weekly: z
    .strictObject({
      from: weekday().describe('Day and time at which it begins.'),
      until: weekday().describe('Day and time at which it ends.'),
      timezone: text().describe('Time zone, as Europe/Berlin.'),
    })
    .optional()
    .describe('A window of every week.'),
  except: exceptions().optional().describe('Classes that may be applied all the same; rollback lets going back through.'),
});

const rule = z
  .strictObject({
    code: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]*$/, 'upper-case letters, digits and _')
      .describe('A stable code.'),
    deny: text().optional().describe('An expression over plan; true refuses the plan.'),
    warn: text().optional().describe('An expression over plan; true warns.'),
    message: text().describe('What is said.'),
  })
  .refine(({ deny, warn }) => (deny === undefined) !== (warn === undefined), { error: 'deny or warn, one of the two' });

export const policySchema = z.strictObject({
  succession: z
    .enum(['permissive', 'strict'])
    .optional()
    .describe('How changes outside of the known classes are taken; permissive when left out.'),
  allow: classSet().optional().describe('Successor classes that may be applied.'),
  approvals: z.partialRecord(z.enum(GOVERNED_CLASSES), z.int().min(0)).optional().describe('How many approvals a class needs.'),
  approvers: z
    .array(
      z.strictObject({
        name: text().describe('Who it is.'),
        key: text().describe('The public key: ssh-ed25519 … or ed25519:….'),
        classes: classSet().optional().describe('Classes that the approver may approve; all when left out.'),
      }),
    )
    .optional()
    .describe('Who may approve.'),
  freeze: z.array(freeze).optional().describe('Times in which nothing is applied.'),
  rules: z.array(rule).optional().describe('Rules over the plan.'),
  prevent_destroy: z.array(text()).optional().describe('Globs of addresses that are never removed or replaced.'),
  plan_max_age: duration().optional().describe('How long a saved plan may be applied.'),
  retain: z
    .strictObject({
      images: z.int().min(0).optional().describe('Old images to keep.'),
      generations: z.int().min(0).optional().describe('Old generations to keep.'),
      trees: z.int().min(0).optional().describe('Old content trees to keep.'),
      evidence: z.int().min(0).optional().describe('Evidence documents to keep.'),
    })
    .optional()
    .describe('How much of the past is kept.'),
});

const host = z
  .string()
  .regex(/^ssh:\/\/[^\s/]+$/, 'ssh://user@name')
  .optional()
  .describe('Where it happens, as ssh://user@name; this machine when left out.');

const hook = z.strictObject({
  run: z.array(z.string()).min(1).describe('A program and its arguments.'),
  timeout: duration().optional().describe('How long it may take.'),
  host,
});
const hookList = () => z.array(hook);

export const hooksSchema = z.strictObject({
  backup: z
    .union([z.literal('none'), hook])
    .optional()
    .describe('Makes a backup before a change that needs one; none affirms that there is none.'),
  verify: hookList().optional().describe('Run after everything else; each must end well.'),
  before: hookList().optional().describe('Run before the first effect.'),
  after: hookList().optional().describe('Run when all went well.'),
  failed: hookList().optional().describe('Run when something failed.'),
});

export const quiesceSchema = z.strictObject({
  units: z.array(text()).optional().describe('systemd units to stop.'),
  containers: z
    .strictObject({ label: text().describe('A label, as app=legacy.') })
    .optional()
    .describe('Containers to stop.'),
  processes: z.array(text()).optional().describe('Executables whose processes are stopped.'),
  host,
});

export const outputSchema = z
  .strictObject({
    value: z.unknown().describe('The value.'),
    description: z.string().optional().describe('What it is.'),
  })
  .describe('A value that the environment gives to the outside.');

export const movedSchema = z.union([
  z.strictObject({ from: text().describe('The old address.'), to: text().describe('The new address.') }),
  z.strictObject({
    key: text().describe('The old name.'),
    to: text().describe('The new name.'),
    in: z.array(text()).min(1).describe('The types in which the name changed.'),
  }),
]);

export const removedSchema = z.strictObject({
  address: text().describe('The address that the documents do not hold any more.'),
  destroy: z.boolean().optional().describe('False forgets the object and leaves it in the world; true when left out.'),
});

export const importSchema = z.strictObject({
  address: text().describe('The address that the object gets.'),
  id: text().describe('How the provider names the object.'),
});

export const releaseReferenceSchema = z.union([
  text(),
  z.strictObject({
    file: text().describe('Path of the release document, relative to the environment.'),
    signature: text().optional().describe('Path of its signature, relative to the environment; accede release sign writes it.'),
    keys: z
      .array(text())
      .min(1)
      .optional()
      .describe('Public keys of which one must have signed it: ed25519:BASE64 (SPKI DER or the bare 32 bytes) or ssh-ed25519 AAAA….'),
  }),
]);

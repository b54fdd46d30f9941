import { env, IMAGE, type Mistake } from './mistake.ts';

/** Mistakes in moves, the release and the policy. */
export const BLOCKS_MISTAKES: readonly Mistake[] = [
  {
    name: 'a move to nowhere',
    files: env('resources:\n  local.value: { a: { input: 1 } }\nmoved:\n  - { from: local.value.x, to: local.value.b }\n'),
    code: 'MOVED_NOWHERE',
    at: '7:32',
    says: 'neither a resource',
  },
  {
    name: 'a removed resource that is there',
    files: env('resources:\n  local.value: { a: { input: 1 } }\nremoved:\n  - { address: local.value.a }\n'),
    code: 'REMOVED_AND_DEFINED',
    at: '7:16',
    says: 'Remove one of the two',
  },
  {
    name: 'an import of nothing',
    files: env('import:\n  - { address: local.value.a, id: x }\n'),
    code: 'UNKNOWN_RESOURCE',
    at: '5:16',
    says: 'under no resources:',
  },
  {
    name: 'a release with a bad digest',
    files: {
      'environment.yaml': env('release: release.yaml\n'),
      'release.yaml':
        'apiVersion: accede/v1\nkind: Release\nmetadata: { name: a, version: "1" }\nservices:\n  api: { image: { repository: r, digest: "sha256:12" } }\n',
    },
    code: 'BAD_VALUE',
    at: 'release.yaml:5:42',
    says: '64 lower-case hexadecimal digits',
  },
  {
    name: 'a role against the release',
    files: {
      'environment.yaml': env(
        'release: release.yaml\nresources:\n  docker.container:\n    a: { image: "${release.services.api.image}", role: worker }\n',
      ),
      'release.yaml': `apiVersion: accede/v1\nkind: Release\nmetadata: { name: a, version: "1" }\nservices:\n  api: { image: "${IMAGE}" }\n`,
    },
    code: 'ROLE_CONTRADICTION',
    at: '7:56',
    says: 'is a service',
  },
  {
    name: 'an unknown key of the policy',
    files: env('policy: { plan_maxage: 1h }\n'),
    code: 'UNKNOWN_KEY',
    at: '4:11',
    says: 'Did you mean plan_max_age?',
  },
  { name: 'a bad duration in the policy', files: env('policy: { plan_max_age: 1 day }\n'), code: 'BAD_VALUE', at: '4:25', says: '1h30m' },
  {
    name: 'more approvals than there are approvers',
    files: env('policy: { approvals: { topology: 1 } }\n'),
    code: 'APPROVERS_TOO_FEW',
    at: '4:34',
    says: 'needs 1 approvals',
  },
  {
    name: 'hooks, which do not exist yet',
    files: env('hooks: { before: [{ run: [x] }] }\n'),
    code: 'NOT_AVAILABLE',
    at: '4:1',
    says: 'Hooks',
  },
  {
    name: 'a state in MySQL without a user and a database',
    files: env('state: { backend: mysql, url: "mysql://x" }\n'),
    code: 'STATE_URL_INVALID',
    at: '4:31',
    says: 'a user, a host and a database',
    expected: 'mysql://USER:PASSWORD@HOST:PORT/DATABASE',
  },
  {
    name: 'the password of the state in the open',
    files: env('state: { backend: mysql, url: "mysql://app:hunter22@db/accede" }\n'),
    code: 'STATE_PASSWORD_IN_CLEAR',
    at: '4:31',
    says: 'must come from a secret',
  },
  {
    name: 'the password of the state in a variable',
    files: env('variables: { pw: {} }\nstate: { backend: mysql, host: db, user: app, database: accede, password: "${vars.pw}" }\n'),
    variables: [['pw', 'hunter22']],
    code: 'STATE_PASSWORD_IN_CLEAR',
    at: '5:75',
    says: 'must come from a secret',
  },
  {
    name: 'a state in MySQL that is nowhere',
    files: env('state: { backend: mysql, host: db }\n'),
    code: 'STATE_SERVER_MISSING',
    at: '4:19',
    says: 'user and database are missing',
  },
  {
    name: 'a state in MySQL that is at two places',
    files: env('state: { backend: mysql, url: "mysql://app@db/accede", host: db }\n'),
    code: 'STATE_SERVER_AMBIGUOUS',
    at: '4:62',
    says: 'Keep one of both',
  },
  {
    name: 'TLS with a server that has no name',
    files: env('state: { backend: mysql, url: "mysql://app@127.0.0.1/accede", tls: {} }\n'),
    code: 'STATE_TLS_NAME',
    at: '4:68',
    says: 'server_name',
  },
  {
    name: 'a prefix of tables that is none',
    files: env('state: { backend: mysql, url: "mysql://app@db/accede", prefix: CRM }\n'),
    code: 'BAD_VALUE',
    at: '4:64',
    says: 'with _ at the end',
  },
  {
    name: 'a restart with a dependency, which does not exist yet',
    files: env(
      'resources:\n  local.value:\n    b: { input: 1 }\n    a: { input: 1, depends_on: [{ address: local.value.b, restart: true }] }\n',
    ),
    code: 'NOT_AVAILABLE',
    at: '7:59',
    says: 'Restarting',
  },
  {
    name: 'a provider on another host, which does not exist yet',
    files: env('providers: { local: { host: "ssh://a@b" } }\n'),
    code: 'NOT_AVAILABLE',
    at: '4:29',
    says: 'another host',
  },
];

/** A digest of one repeated digit. */
export const D = (digit: string): string => `sha256:${digit.repeat(64)}`;

/** The predecessor: something of every role. */
export const RELEASE = `apiVersion: accede/v1
kind: Release
metadata: { name: crm, version: 1 }
services:
  api: { image: "r.example/api@${D('1')}", source: { repository: git.example/api, commit: abc }, sbom: "${D('a')}", provenance: "${D('b')}" }
  worker: { role: worker, image: "r.example/worker@${D('1')}" }
jobs:
  publish: { image: "r.example/publish@${D('1')}" }
  seed: { image: "r.example/seed@${D('1')}" }
frontends:
  web: { image: "r.example/web@${D('1')}", routing: path }
catalogs:
  crm: { app_id: crm-1, job: publish, release_digest: "${D('1')}", metadata: { repository: git.example/packs, path: packs, commit: abc } }
runtimes:
  ocr: { generation: g1, archive: ocr-g1.tar }
roles:
  bulk: { schema: v3, parallelism: 4, batch: 10, tunable: { parallelism: { min: 1, max: 15 } } }
  mail: { schema: v3, parallelism: 2, tunable: { parallelism: { min: 1, max: 15 } } }
`;

export const ENVIRONMENT = `apiVersion: accede/v1
kind: Environment
metadata: { name: crm }
release: release.yaml
secrets:
  db: { env: DB_PASSWORD }
providers:
  fake: { zone: here }
policy: { succession: permissive }
resources:
  docker.network:
    app: { name: crm-app, labels: { team: crm } }
  docker.image:
    tools: { repository: r.example/tools, digest: "${D('1')}" }
  docker.container:
    api:
      image: "\${release.services.api.image}"
      environment: { LOG: info, NETWORK: "\${docker.network.app.name}", TLS: "\${fake.credential.tls.digest}" }
      ports: ["127.0.0.1:8080:8080"]
      mem_limit: 512m
      labels: { team: crm }
      secrets: { /run/db: "\${secrets.db}" }
    side:
      image: "\${docker.image.tools.reference}"
      environment: { LOG: info }
    worker:
      for_each: "\${release.roles}"
      role: worker
      image: "\${release.services.worker.image}"
      configs: { /etc/role.json: "\${json(each.value)}" }
      environment: { LOG: info }
    db:
      role: store
      image: "r.example/db@${D('1')}"
      environment: { SHARED: 1g }
  fake.ingress:
    edge: { server_name: crm.example, listen: "443", locations: { /: api }, access_log: main, tls: one }
  fake.frontend:
    web: { tree: t1, archive: a1, routing: path, keep: 3 }
  fake.catalog:
    crm: { app_id: crm-1, release_digest: r1, version: 1, publication: p1 }
  fake.trust:
    publisher: { publisher: crm, keys: [k1] }
  fake.ownership:
    families: { families: [bulk, mail], worker_release_digest: w1, carrier: c1 }
  fake.runtime:
    ocr: { family: ocr, generation: g1, trust: [k1], retention: 1 }
  fake.credential:
    tls: { names: [crm.example], generation: 1, mode: "0600" }
  fake.data:
    base: { table: base, source: s1, commit: c1, reset: 1 }
  fake.job:
    seed: { repository: r.example/seed, image: i1, command: seed }
outputs:
  url: { value: "http://127.0.0.1:8080", description: where it is }
`;

/** Edits of the predecessor's documents: each text must be there once and is replaced. */
export interface Edits {
  readonly environment?: readonly (readonly [string, string])[];
  readonly release?: readonly (readonly [string, string])[];
}

/** One commit, and what it has to be. */
export interface Vector {
  readonly name: string;
  readonly edits: Edits;
  /** Under a permissive policy. */
  readonly permissive: string;
  /** Under a strict one; the same where it is left out. */
  readonly strict?: string;
  /** The class that comes nearest, and all that it does not admit. */
  readonly misses?: readonly [string, ...(readonly string[])];
}

const env = (...environment: readonly (readonly [string, string])[]): Edits => ({ environment });
const rel = (...release: readonly (readonly [string, string])[]): Edits => ({ release });
const both = (one: Edits, other: Edits): Edits => ({
  environment: [...(one.environment ?? []), ...(other.environment ?? [])],
  release: [...(one.release ?? []), ...(other.release ?? [])],
});

const API_IMAGE = rel(['r.example/api@sha256:1', 'r.example/api@sha256:2']);
const API_ENV = env(['{ LOG: info, NETWORK', '{ LOG: debug, NETWORK']);
const WORKER_IMAGE = rel(['r.example/worker@sha256:1', 'r.example/worker@sha256:2']);
const WORKER_ENV = env(['each.value)}" }\n      environment: { LOG: info }', 'each.value)}" }\n      environment: { LOG: warn }']);
const API_OWNER = rel(['r.example/api@sha256:1', 'other.example/api@sha256:2']);
const MIRROR = rel(['r.example/api@', 'mirror.example/api@']);
const TUNING = rel(['bulk: { schema: v3, parallelism: 4', 'bulk: { schema: v3, parallelism: 8']);
const TOO_FAR = rel(['bulk: { schema: v3, parallelism: 4', 'bulk: { schema: v3, parallelism: 40']);
const BATCH = rel(['batch: 10', 'batch: 20']);
const PORT = env(['127.0.0.1:8080:8080', '127.0.0.1:9090:8080']);
const MEMORY = env(['mem_limit: 512m', 'mem_limit: 1g']);
const LABEL = env(['labels: { team: crm }\n      secrets', 'labels: { team: sales }\n      secrets']);
const LOCATION = env(['locations: { /: api }', 'locations: { /: api, /v2: api }']);
const LOG = env(['access_log: main', 'access_log: short']);
const CERTIFICATE = env(['generation: 1, mode', 'generation: 2, mode']);
const TREE = env(['tree: t1', 'tree: t2']);
const CONTENT = env(['release_digest: r1', 'release_digest: r2']);
const APP = env(['app_id: crm-1', 'app_id: crm-2']);
const KEYS = env(['publisher: crm, keys: [k1]', 'publisher: crm, keys: [k1, k2]']);
const CLAIM = env(['worker_release_digest: w1', 'worker_release_digest: w2']);
const GENERATION = env(['family: ocr, generation: g1', 'family: ocr, generation: g2']);
const REFERENCE = env(['commit: c1, reset', 'commit: c2, reset']);
const RESET = env(['reset: 1', 'reset: 2']);
const JOB = env(['image: i1', 'image: i2']);
const STORE_IMAGE = env(['r.example/db@sha256:1', 'r.example/db@sha256:2']);
const STORE_ENV = env(['SHARED: 1g', 'SHARED: 2g']);
const NETWORK = env(['name: crm-app, labels: { team: crm }', 'name: crm-app, labels: { team: sales }']);
const ADDED = env(['    side:\n', `    extra: { image: "r.example/extra@${D('1')}" }\n    side:\n`]);
const REMOVED = env(['  fake.job:\n    seed: { repository: r.example/seed, image: i1, command: seed }\n', '']);
const PLACE = env(['fake: { zone: here }', 'fake: { zone: there }']);
const POLICY = env(['{ succession: permissive }', '{ succession: permissive, plan_max_age: 2h }']);
const VERSION = rel(['version: 1', 'version: 2']);
const ROLE = rel(['  mail:', '  late: { schema: v3, parallelism: 1 }\n  mail:']);
const FAMILY = env(['[bulk, mail]', '[bulk, late, mail]']);

/** The field matrix: each class chosen, its nearest misses, and each refusal. */
export const VECTORS: readonly Vector[] = [
  { name: 'nothing', edits: {}, permissive: 'no-op' },
  { name: 'order of keys', edits: env(['{ tree: t1, archive: a1', '{ archive: a1, tree: t1']), permissive: 'no-op' },
  { name: 'another spelling of a size', edits: env(['mem_limit: 512m', 'mem_limit: 536870912']), permissive: 'no-op' },

  { name: 'a version', edits: VERSION, permissive: 'annotation' },
  { name: 'a provenance', edits: rel([`provenance: "${D('b')}"`, `provenance: "${D('c')}"`]), permissive: 'annotation' },
  { name: 'a mirror of the same bytes', edits: MIRROR, permissive: 'annotation' },
  {
    name: 'a mirror of a shared image',
    edits: env(['repository: r.example/tools', 'repository: mirror.example/tools']),
    permissive: 'serving-refresh',
  },
  { name: 'the description of an output', edits: env(['description: where it is', 'description: the address']), permissive: 'annotation' },
  { name: 'how long it may take', edits: env(['    db:\n', '    db:\n      timeouts: { ready: 9m }\n']), permissive: 'annotation' },

  { name: 'policy', edits: POLICY, permissive: 'policy-change' },
  { name: 'policy and a version', edits: both(POLICY, VERSION), permissive: 'policy-change' },
  { name: 'protection', edits: env(['    db:\n', '    db:\n      lifecycle: { prevent_destroy: true }\n']), permissive: 'policy-change' },
  {
    name: 'what may be gone back over',
    edits: env(['    db:\n', '    db:\n      lifecycle: { reversible: true }\n']),
    permissive: 'policy-change',
  },
  { name: 'a waived backup', edits: env(['policy:', 'hooks: { backup: none }\npolicy:']), permissive: 'policy-change' },
  { name: 'policy and an image', edits: both(POLICY, API_IMAGE), permissive: 'serving-refresh' },

  { name: 'reference data', edits: REFERENCE, permissive: 'reference-completion' },
  {
    name: 'reference data and an image',
    edits: both(REFERENCE, API_IMAGE),
    permissive: 'release-refresh',
    misses: ['serving-refresh', 'fake.data.base.commit'],
  },
  { name: 'another table', edits: env(['table: base', 'table: other']), permissive: 'replacement', strict: 'refuse' },

  { name: 'a tuning value inside its range', edits: TUNING, permissive: 'worker-tuning' },
  { name: 'a tuning value outside of its range', edits: TOO_FAR, permissive: 'configuration' },
  { name: 'a value that is not declared safe', edits: BATCH, permissive: 'configuration' },
  {
    name: 'a wider range with a value in it',
    edits: rel([
      'parallelism: 4, batch: 10, tunable: { parallelism: { min: 1, max: 15',
      'parallelism: 40, batch: 10, tunable: { parallelism: { min: 1, max: 50',
    ]),
    permissive: 'configuration',
  },
  { name: 'a tuning value and an image of workers', edits: both(TUNING, WORKER_IMAGE), permissive: 'worker-implementation' },
  {
    name: 'a tuning value with an owner move',
    edits: both(TUNING, API_OWNER),
    permissive: 'replacement',
    strict: 'refuse',
    misses: ['topology', 'docker.container.api.image.repository', 'release.services.api.image.repository'],
  },
  { name: 'the schema of a role', edits: rel(['bulk: { schema: v3', 'bulk: { schema: v4']), permissive: 'replacement', strict: 'refuse' },
  { name: 'memory of a service', edits: MEMORY, permissive: 'configuration', misses: ['job-run', 'docker.container.api.mem_limit'] },
  { name: 'memory of workers', edits: env(['each.value)}" }\n', 'each.value)}" }\n      mem_limit: 1g\n']), permissive: 'worker-tuning' },

  { name: 'a certificate', edits: CERTIFICATE, permissive: 'credential-rotation' },
  {
    name: 'a certificate and its mode',
    edits: both(CERTIFICATE, env(['mode: "0600"', 'mode: "0640"'])),
    permissive: 'credential-rotation',
  },
  {
    name: 'the names of a certificate',
    edits: env(['names: [crm.example]', 'names: [crm.example, www.example]']),
    permissive: 'replacement',
    strict: 'refuse',
  },
  {
    name: 'a certificate and a port',
    edits: both(CERTIFICATE, PORT),
    permissive: 'configuration',
    misses: ['routing', 'docker.container.api.ports'],
  },
  { name: 'another secret in the same place', edits: env(['"${secrets.db}"', '"x${secrets.db}"']), permissive: 'no-op' },

  { name: 'keys of a publisher', edits: KEYS, permissive: 'trust-transition' },
  { name: 'keys that a runtime trusts', edits: env(['trust: [k1], retention', 'trust: [k2], retention']), permissive: 'trust-transition' },
  {
    name: 'a publisher more',
    edits: env(['    publisher: {', '    second: { publisher: other, keys: [k9] }\n    publisher: {']),
    permissive: 'trust-transition',
  },
  {
    name: 'keys of a publisher and an image',
    edits: both(KEYS, API_IMAGE),
    permissive: 'composite',
    strict: 'refuse',
    misses: ['topology', 'fake.trust.publisher.keys'],
  },
  {
    name: 'another publisher',
    edits: env(['publisher: crm, keys', 'publisher: sales, keys']),
    permissive: 'replacement',
    strict: 'refuse',
  },
  {
    name: 'another publisher with its keys',
    edits: env(['publisher: crm, keys: [k1]', 'publisher: sales, keys: [k2]']),
    permissive: 'refuse',
  },

  { name: 'a location', edits: LOCATION, permissive: 'routing' },
  { name: 'a certificate and a location', edits: both(CERTIFICATE, LOCATION), permissive: 'routing' },
  { name: 'a log of the ingress', edits: LOG, permissive: 'routing' },
  {
    name: 'a location and a tree',
    edits: both(LOCATION, TREE),
    permissive: 'release-refresh',
    misses: ['configuration', 'fake.frontend.web.tree'],
  },
  {
    name: 'another server name',
    edits: env(['server_name: crm.example', 'server_name: www.example']),
    permissive: 'replacement',
    strict: 'refuse',
  },

  { name: 'a tree', edits: TREE, permissive: 'frontend-content' },
  { name: 'a tree and its archive', edits: both(TREE, env(['archive: a1', 'archive: a2'])), permissive: 'frontend-content' },
  { name: 'an image of a frontend', edits: rel(['r.example/web@sha256:1', 'r.example/web@sha256:2']), permissive: 'frontend-content' },
  {
    name: 'the routing mode of a frontend',
    edits: rel(['routing: path', 'routing: hash']),
    permissive: 'composite',
    strict: 'refuse',
    misses: ['replacement', 'release.frontends.web.routing'],
  },
  {
    name: 'the owner of a frontend',
    edits: rel(['r.example/web@sha256:1', 'other.example/web@sha256:2']),
    permissive: 'replacement',
    strict: 'refuse',
  },

  { name: 'a generation', edits: GENERATION, permissive: 'runtime-generation' },
  { name: 'a generation in the release', edits: rel(['generation: g1', 'generation: g2']), permissive: 'runtime-generation' },
  { name: 'a generation and retention', edits: both(GENERATION, env(['retention: 1', 'retention: 2'])), permissive: 'runtime-generation' },
  {
    name: 'a generation and its trust',
    edits: both(GENERATION, env(['trust: [k1], retention', 'trust: [k2], retention'])),
    permissive: 'composite',
    strict: 'refuse',
  },
  { name: 'another family', edits: env(['family: ocr', 'family: asr']), permissive: 'replacement', strict: 'refuse' },

  { name: 'an image of a job', edits: JOB, permissive: 'job-run' },
  { name: 'a command of a job', edits: env(['command: seed', 'command: seed --all']), permissive: 'job-run' },
  { name: 'an image of a job in the release', edits: rel(['r.example/seed@sha256:1', 'r.example/seed@sha256:2']), permissive: 'job-run' },
  {
    name: 'a job and a service',
    edits: both(JOB, API_IMAGE),
    permissive: 'release-refresh',
    misses: ['serving-refresh', 'fake.job.seed.image'],
  },
  {
    name: 'the owner of a job',
    edits: env(['repository: r.example/seed', 'repository: other.example/seed']),
    permissive: 'replacement',
    strict: 'refuse',
  },

  { name: 'a variable of a service', edits: API_ENV, permissive: 'configuration' },
  { name: 'a port', edits: PORT, permissive: 'configuration' },
  { name: 'a port and a location', edits: both(PORT, LOCATION), permissive: 'configuration' },
  { name: 'a label', edits: LABEL, permissive: 'configuration' },
  { name: 'a label of a network', edits: NETWORK, permissive: 'configuration' },
  { name: 'a variable of a store', edits: STORE_ENV, permissive: 'configuration' },
  { name: 'a variable of workers', edits: WORKER_ENV, permissive: 'configuration' },
  { name: 'the name of a network', edits: env(['name: crm-app', 'name: crm-net']), permissive: 'replacement', strict: 'refuse' },

  { name: 'a version of a store', edits: STORE_IMAGE, permissive: 'store-refresh' },
  { name: 'a version of a store and a variable of it', edits: both(STORE_IMAGE, STORE_ENV), permissive: 'store-refresh' },
  {
    name: 'a version of a store and an image',
    edits: both(STORE_IMAGE, API_IMAGE),
    permissive: 'composite',
    strict: 'refuse',
    misses: ['replacement', 'docker.container.db.image.digest'],
  },
  { name: 'the owner of a store', edits: env(['r.example/db@sha256:1', 'other.example/db@sha256:1']), permissive: 'annotation' },
  { name: 'the owner of a store and its bytes', edits: env(['r.example/db@sha256:1', 'other.example/db@sha256:2']), permissive: 'refuse' },

  { name: 'an image of workers', edits: WORKER_IMAGE, permissive: 'worker-implementation' },
  { name: 'an image of workers with its ownership', edits: both(WORKER_IMAGE, CLAIM), permissive: 'worker-implementation' },
  { name: 'ownership alone', edits: CLAIM, permissive: 'worker-implementation' },
  {
    name: 'an image of workers and a variable of a service',
    edits: both(WORKER_IMAGE, API_ENV),
    permissive: 'serving-refresh',
    misses: ['worker-implementation', 'docker.container.api.environment.LOG'],
  },
  {
    name: 'a service that becomes a worker',
    edits: both(rel(['api: { image', 'api: { role: worker, image']), env()),
    permissive: 'replacement',
    strict: 'refuse',
  },

  {
    name: 'an image of a service',
    edits: API_IMAGE,
    permissive: 'serving-refresh',
    misses: ['worker-implementation', 'docker.container.api.image.digest', 'release.services.api.image.digest'],
  },
  { name: 'an image and a variable', edits: both(API_IMAGE, API_ENV), permissive: 'serving-refresh' },
  {
    name: 'images of a service and of workers with a claim',
    edits: both(both(API_IMAGE, WORKER_IMAGE), CLAIM),
    permissive: 'serving-refresh',
  },
  { name: 'a commit of a source', edits: rel(['commit: abc }, sbom', 'commit: def }, sbom']), permissive: 'serving-refresh' },
  {
    name: 'a shared image takes the role of what refers to it',
    edits: env(['repository: r.example/tools, digest: "sha256:1', 'repository: r.example/tools, digest: "sha256:2']),
    permissive: 'serving-refresh',
  },
  { name: 'the repository of a source', edits: rel(['git.example/api', 'git.example/fork']), permissive: 'replacement', strict: 'refuse' },
  { name: 'a role that comes with the list of the release', edits: both(both(ROLE, FAMILY), WORKER_IMAGE), permissive: 'serving-refresh' },
  {
    name: 'a role that goes from the list of the release',
    edits: rel(['  mail: { schema: v3, parallelism: 2, tunable: { parallelism: { min: 1, max: 15 } } }\n', '']),
    permissive: 'refuse',
  },
  { name: 'a family that goes', edits: env(['[bulk, mail]', '[bulk]']), permissive: 'refuse' },
  { name: 'an owner move', edits: API_OWNER, permissive: 'replacement', strict: 'refuse' },

  {
    name: 'an image and a location',
    edits: both(API_IMAGE, LOCATION),
    permissive: 'release-refresh',
    misses: ['serving-refresh', 'fake.ingress.edge.locations["/v2"]'],
  },
  { name: 'a tree and an image', edits: both(TREE, API_IMAGE), permissive: 'release-refresh' },
  { name: 'an image and a label of a network', edits: both(API_IMAGE, NETWORK), permissive: 'release-refresh' },
  { name: 'a generation and an image', edits: both(GENERATION, API_IMAGE), permissive: 'release-refresh' },

  { name: 'content of a catalog', edits: CONTENT, permissive: 'catalog-upgrade' },
  {
    name: 'content of a catalog in the release',
    edits: rel([`release_digest: "${D('1')}"`, `release_digest: "${D('2')}"`]),
    permissive: 'catalog-upgrade',
  },
  {
    name: 'the job that publishes',
    edits: rel(['r.example/publish@sha256:1', 'r.example/publish@sha256:2']),
    permissive: 'catalog-upgrade',
  },
  {
    name: 'content of a catalog with a release around it',
    edits: both(both(CONTENT, API_IMAGE), both(KEYS, TREE)),
    permissive: 'catalog-upgrade',
  },
  {
    name: 'content of a catalog and a new service',
    edits: both(CONTENT, ADDED),
    permissive: 'composite',
    strict: 'refuse',
    misses: ['replacement', 'fake.catalog.crm.release_digest'],
  },
  { name: 'another application', edits: APP, permissive: 'replacement', strict: 'refuse' },
  { name: 'another application with its content', edits: both(APP, CONTENT), permissive: 'refuse' },

  { name: 'a resource that comes', edits: ADDED, permissive: 'topology' },
  { name: 'a resource that goes', edits: REMOVED, permissive: 'topology' },
  {
    name: 'a resource that comes with an image',
    edits: both(ADDED, API_IMAGE),
    permissive: 'topology',
    misses: ['release-refresh', 'docker.container.extra'],
  },
  { name: 'another place', edits: PLACE, permissive: 'topology' },
  {
    name: 'a resource under another name',
    edits: env(
      ['    edge: {', '    front: {'],
      ['resources:\n', 'moved: [{ from: fake.ingress.edge, to: fake.ingress.front }]\nresources:\n'],
    ),
    permissive: 'replacement',
    strict: 'refuse',
  },

  { name: 'a reset', edits: RESET, permissive: 'data-reset' },
  { name: 'a reset and an image', edits: both(RESET, API_IMAGE), permissive: 'refuse' },
  { name: 'a reset and another table', edits: both(RESET, env(['table: base', 'table: other'])), permissive: 'refuse' },
  {
    name: 'ownership that goes',
    edits: env(['  fake.ownership:\n    families: { families: [bulk, mail], worker_release_digest: w1, carrier: c1 }\n', '']),
    permissive: 'refuse',
  },
];

/** Generated from the schema of the same name. */

export interface Plan {
  format: 'accede.plan/v1';
  digest: string;
  environment: string;
  engine: {
    version: string;
  };
  inputs: {
    sourceDigest: string;
    releaseDigest: string | null;
    commit: string | null;
    folder: string;
    variables: {};
    providers: {
      [k: string]: {
        [k: string]: string;
      };
    };
    options: {
      targets: string[];
      excludes: string[];
      replace: string[];
      destroy: boolean;
      refreshOnly: boolean;
      refresh: boolean;
      refreshTags: boolean;
      skipSecrets: boolean;
      keepProtected: boolean;
      includeProtected: boolean;
      recover: boolean;
    };
  };
  state: {
    lineage: string | null;
    epoch: number | null;
    serial: number;
    digest: string;
    begins: string | null;
  };
  succession: {
    class: string;
    then: string | null;
    chosen: string | null;
    backsOut: {
      operation: string;
      steps: string[];
    } | null;
    rule: string;
    outage: string;
    direction: string;
    pointOfNoReturn: string | null;
    stages: (
      'preflight' | 'backup' | 'quiesce' | 'snapshot' | 'migrate' | 'publish' | 'claim' | 'start' | 'route' | 'commit' | 'verify' | 'retire'
    )[];
    changedPaths: {
      path: string;
      role:
        | 'service'
        | 'worker'
        | 'store'
        | 'job'
        | 'frontend'
        | 'ingress'
        | 'catalog'
        | 'ownership'
        | 'trust'
        | 'runtime'
        | 'credential'
        | 'data'
        | 'infrastructure';
      facet:
        | 'identity'
        | 'implementation'
        | 'configuration'
        | 'tuning'
        | 'routing'
        | 'content'
        | 'credential'
        | 'authority'
        | 'placement'
        | 'governance'
        | 'annotation';
      action: 'changed' | 'added' | 'removed';
      admittedBy: string | null;
    }[];
    rejected: {
      class: string;
      uncovered: string[];
      reason: string;
    }[];
    guards: {
      name: string;
      expected: string;
      observed: string;
      ok: boolean;
    }[];
    refusals: {
      code: string;
      path: string;
      message: string;
      expected?: string;
      observed?: string;
      next?: string;
      source?: {
        file: string;
        line: number;
        column: number;
        endLine: number;
        endColumn: number;
        excerpt?: string;
      };
    }[];
  };
  applicable: boolean;
  changes: {
    address: string;
    type: string;
    provider: string;
    role:
      | 'service'
      | 'worker'
      | 'store'
      | 'job'
      | 'frontend'
      | 'ingress'
      | 'catalog'
      | 'ownership'
      | 'trust'
      | 'runtime'
      | 'credential'
      | 'data'
      | 'infrastructure';
    action: 'create' | 'update' | 'replace' | 'start' | 'delete' | 'adopt' | 'forget' | 'move' | 'noop' | 'read' | 'refuse';
    replaceOrder: ('destroy-first' | 'create-first') | null;
    cause: {
      kind: 'self' | 'follows' | 'drift' | 'requested';
      of?: string;
    } | null;
    reason: string;
    facets: (
      | 'identity'
      | 'implementation'
      | 'configuration'
      | 'tuning'
      | 'routing'
      | 'content'
      | 'credential'
      | 'authority'
      | 'placement'
      | 'governance'
      | 'annotation'
    )[];
    paths: {
      path: string;
      facet:
        | 'identity'
        | 'implementation'
        | 'configuration'
        | 'tuning'
        | 'routing'
        | 'content'
        | 'credential'
        | 'authority'
        | 'placement'
        | 'governance'
        | 'annotation';
      replaces: boolean;
      cause: 'change' | 'drift' | 'follows';
    }[];
    before: {} | null;
    after: {} | null;
    unknown: string[];
    sensitive: string[];
    movedFrom: string | null;
    importId: string | null;
    protected: boolean;
    source: {
      file: string;
      line: number;
      column: number;
      endLine: number;
      endColumn: number;
      excerpt?: string;
    } | null;
  }[];
  steps: {
    id: string;
    address: string;
    effect: string;
    stage:
      | 'preflight'
      | 'backup'
      | 'quiesce'
      | 'snapshot'
      | 'migrate'
      | 'publish'
      | 'claim'
      | 'start'
      | 'route'
      | 'commit'
      | 'verify'
      | 'retire';
    phase: number;
    pulled?: {
      from:
        | 'preflight'
        | 'backup'
        | 'quiesce'
        | 'snapshot'
        | 'migrate'
        | 'publish'
        | 'claim'
        | 'start'
        | 'route'
        | 'commit'
        | 'verify'
        | 'retire';
      by: string;
    };
    after: string[];
    direction: 'back' | 'forward' | 'stays';
    seconds?: number;
  }[];
  rolling: {
    resource: string;
    batches: {
      addresses: string[];
      pause: number;
    }[];
  }[];
  fingerprints: {
    [k: string]: string | null;
  };
  outageAddresses: string[];
  affected: string[];
  secretsChanged: {
    name: string;
    addresses: string[];
  }[];
  drift: {
    address: string;
    kind: 'missing' | 'stopped' | 'changed' | 'unfinished' | 'foreign';
    paths: {
      path: string;
      recorded: unknown;
      live: unknown;
    }[];
    answer: string;
    reason: string;
  }[];
  outputs: {
    name: string;
    before: unknown;
    after: unknown;
    changed: boolean;
    unknown: boolean;
    sensitive: boolean;
  }[];
  summary: {
    create: number;
    update: number;
    replace: number;
    start: number;
    delete: number;
    adopt: number;
    forget: number;
    move: number;
    noop: number;
    refuse: number;
  };
  warnings: {
    code: string;
    message: string;
    address?: string;
  }[];
  createdAt: string;
  expiresAt: string;
}

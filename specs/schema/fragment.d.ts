/** Generated from the schema of the same name. */

import type {
  Algorithm,
  Archive,
  Attachable,
  Bytes,
  CapAdd,
  CapDrop,
  Command,
  Configs,
  Content,
  CpuShares,
  Cpus,
  Cpuset,
  DependsOn,
  Devices,
  Digest,
  Dns,
  DnsOpt,
  DnsSearch,
  DockerContainerEnvironment,
  DockerImageContentImage,
  DockerImagePlatform,
  DockerJobCpuShares,
  DockerJobCpus,
  DockerJobCpuset,
  DockerJobLabels,
  DockerJobMemLimit,
  DockerJobMemReservation,
  DockerJobMemswapLimit,
  DockerJobName,
  DockerJobNetworks,
  DockerJobPidsLimit,
  DockerNetworkName,
  DockerVolumeDriverOpts,
  DriverOpts,
  Encoding,
  Entrypoint,
  EnvFile,
  Expect,
  Expose,
  ExtraHosts,
  Generation,
  Gpus,
  Group,
  GroupAdd,
  Guard,
  Healthcheck,
  Hostname,
  Image,
  Init,
  Inputs,
  Internal,
  Ipam,
  Ipc,
  Ipv6,
  Keep,
  Labels,
  Lifecycle,
  LocalCertificatePath,
  LocalDirectoryMode,
  LocalDirectoryOwner,
  LocalDirectoryPath,
  LocalFileMode,
  LocalFileOwner,
  LocalFilePath,
  LocalKeypairGeneration,
  LocalPortsNames,
  LocalSecretGeneration,
  Logging,
  Marker,
  MemLimit,
  MemReservation,
  MemswapLimit,
  Mode,
  Name,
  Names,
  NetworkMode,
  Networks,
  OomScoreAdj,
  Output,
  Overlap,
  Owner,
  Path,
  Pid,
  PidsLimit,
  Platform,
  Ports,
  Privileged,
  Range,
  ReadOnly,
  Ready,
  RenewAnonVolumes,
  Repository,
  Restart,
  Role,
  Run,
  Runtime,
  Schedule,
  Schema,
  Secrets,
  SecurityOpt,
  Selector,
  Sensitive,
  ShmSize,
  Source,
  Stage,
  Stdout,
  StopGracePeriod,
  StopSignal,
  Sysctls,
  Timeout,
  Timeouts,
  Tmpfs,
  Ulimits,
  Update,
  User,
  ValidityDays,
  Volumes,
  WorkingDir,
} from './environment.d.ts';

/**
 * Any value. It is kept in the state as it was at the last apply.
 */
export type Input = unknown;

export interface Fragment {
  /**
   * The version of the format.
   */
  apiVersion: 'accede/v1';
  /**
   * This is a part of an environment.
   */
  kind: 'Fragment';
  /**
   * What the fragment is.
   */
  metadata?: {
    /**
     * A name for people.
     */
    name?: string;
  };
  /**
   * What may be set from outside.
   */
  variables?: {
    [k: string]: {
      /**
       * What values it takes; string when left out.
       */
      type?: ('string' | 'integer' | 'number' | 'boolean' | 'list' | 'map' | 'any') | string;
      /**
       * The value when nobody gives one. Without it a value must be given.
       */
      default?: unknown;
      /**
       * What it is for.
       */
      description?: string;
    } | null;
  };
  /**
   * Named values.
   */
  locals?: {
    [k: string]: unknown;
  };
  /**
   * Where secrets come from.
   */
  secrets?: {
    /**
     * Where a secret comes from: env, file or exec.
     */
    [k: string]:
      | {
          /**
           * Name of an environment variable.
           */
          env: string;
          /**
           * json: many values at once, read as ${secrets.NAME.KEY}.
           */
          format?: ('text' | 'json') | string;
        }
      | {
          /**
           * Path of a file with mode 0600, relative to the document.
           */
          file: string;
          /**
           * json: many values at once, read as ${secrets.NAME.KEY}.
           */
          format?: ('text' | 'json') | string;
        }
      | {
          /**
           * A program and its arguments; its output is the value.
           */
          exec: [string, ...string[]] | string;
          /**
           * json: many values at once, read as ${secrets.NAME.KEY}.
           */
          format?: ('text' | 'json') | string;
        };
  };
  /**
   * By type: what is merged under every resource of that type in this document.
   */
  defaults?: {
    /**
     * A container that runs until it is told to end.
     */
    'docker.container'?: {
      image?: Image;
      name?: Name;
      command?: Command;
      entrypoint?: Entrypoint;
      environment?: DockerContainerEnvironment;
      env_file?: EnvFile;
      secrets?: Secrets;
      configs?: Configs;
      volumes?: Volumes;
      tmpfs?: Tmpfs;
      ports?: Ports;
      expose?: Expose;
      networks?: Networks;
      network_mode?: NetworkMode;
      hostname?: Hostname;
      extra_hosts?: ExtraHosts;
      dns?: Dns;
      dns_search?: DnsSearch;
      dns_opt?: DnsOpt;
      user?: User;
      group_add?: GroupAdd;
      working_dir?: WorkingDir;
      restart?: Restart;
      init?: Init;
      read_only?: ReadOnly;
      cap_add?: CapAdd;
      cap_drop?: CapDrop;
      security_opt?: SecurityOpt;
      privileged?: Privileged;
      devices?: Devices;
      gpus?: Gpus;
      ulimits?: Ulimits;
      sysctls?: Sysctls;
      shm_size?: ShmSize;
      mem_limit?: MemLimit;
      mem_reservation?: MemReservation;
      memswap_limit?: MemswapLimit;
      cpus?: Cpus;
      cpu_shares?: CpuShares;
      cpuset?: Cpuset;
      pids_limit?: PidsLimit;
      oom_score_adj?: OomScoreAdj;
      logging?: Logging;
      labels?: Labels;
      healthcheck?: Healthcheck;
      stop_signal?: StopSignal;
      stop_grace_period?: StopGracePeriod;
      pid?: Pid;
      ipc?: Ipc;
      platform?: Platform;
      runtime?: Runtime;
      renew_anon_volumes?: RenewAnonVolumes;
      ready?: Ready;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * An image on the engine, pulled by digest or loaded from an archive.
     */
    'docker.image'?: {
      repository?: Repository;
      digest?: Digest;
      platform?: DockerImagePlatform;
      archive?: Archive;
      expect?: Expect;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * What stands at a path of an image, by digest.
     */
    'docker.image_content'?: {
      image?: DockerImageContentImage;
      path?: Path;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * The containers that carry a label, whoever made them.
     */
    'docker.inventory'?: {
      selector?: Selector;
      guard?: Guard;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A process in a container that runs to its end, when its inputs change or when it is asked for, and may leave a receipt.
     */
    'docker.job'?: {
      image?: Image;
      command?: Command;
      entrypoint?: Entrypoint;
      environment?: DockerContainerEnvironment;
      env_file?: EnvFile;
      secrets?: Secrets;
      configs?: Configs;
      volumes?: Volumes;
      tmpfs?: Tmpfs;
      networks?: DockerJobNetworks;
      network_mode?: NetworkMode;
      hostname?: Hostname;
      extra_hosts?: ExtraHosts;
      dns?: Dns;
      dns_search?: DnsSearch;
      dns_opt?: DnsOpt;
      user?: User;
      group_add?: GroupAdd;
      working_dir?: WorkingDir;
      init?: Init;
      read_only?: ReadOnly;
      cap_add?: CapAdd;
      cap_drop?: CapDrop;
      security_opt?: SecurityOpt;
      privileged?: Privileged;
      devices?: Devices;
      ulimits?: Ulimits;
      sysctls?: Sysctls;
      shm_size?: ShmSize;
      mem_limit?: DockerJobMemLimit;
      mem_reservation?: DockerJobMemReservation;
      memswap_limit?: DockerJobMemswapLimit;
      cpus?: DockerJobCpus;
      cpu_shares?: DockerJobCpuShares;
      cpuset?: DockerJobCpuset;
      pids_limit?: DockerJobPidsLimit;
      oom_score_adj?: OomScoreAdj;
      logging?: Logging;
      labels?: DockerJobLabels;
      stop_signal?: StopSignal;
      stop_grace_period?: StopGracePeriod;
      pid?: Pid;
      ipc?: Ipc;
      platform?: Platform;
      runtime?: Runtime;
      name?: DockerJobName;
      inputs?: Inputs;
      run?: Run;
      schedule?: Schedule;
      stage?: Stage;
      timeout?: Timeout;
      output?: Output;
      stdout?: Stdout;
      schema?: Schema;
      keep?: Keep;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A network of the engine.
     */
    'docker.network'?: {
      name?: DockerNetworkName;
      /**
       * Network driver; default `bridge`.
       */
      driver?: string;
      driver_opts?: DriverOpts;
      internal?: Internal;
      attachable?: Attachable;
      ipv6?: Ipv6;
      ipam?: Ipam;
      labels?: Labels;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A named volume of the engine. It holds data and starts protected.
     */
    'docker.volume'?: {
      name?: DockerNetworkName;
      /**
       * Volume driver; default `local`.
       */
      driver?: string;
      driver_opts?: DockerVolumeDriverOpts;
      labels?: Labels;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A self-signed TLS certificate and its key, made once, in two files on this machine
     */
    'local.certificate'?: {
      names?: Names;
      path?: LocalCertificatePath;
      validity_days?: ValidityDays;
      generation?: Generation;
      owner?: Owner;
      mode?: Mode;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A directory on this machine, marked as ours and never removed with content
     */
    'local.directory'?: {
      path?: LocalDirectoryPath;
      owner?: LocalDirectoryOwner;
      mode?: LocalDirectoryMode;
      marker?: Marker;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A file on this machine, put in place in one step
     */
    'local.file'?: {
      path?: LocalFilePath;
      content?: Content;
      source?: Source;
      mode?: LocalFileMode;
      owner?: LocalFileOwner;
      group?: Group;
      sensitive?: Sensitive;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A pair of signing keys, made once, the private one kept encrypted in the state
     */
    'local.keypair'?: {
      algorithm?: Algorithm;
      generation?: LocalKeypairGeneration;
      overlap?: Overlap;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * Ports of a range, given to names once and kept in the state
     */
    'local.ports'?: {
      range?: Range;
      names?: LocalPortsNames;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A random secret, made once and kept encrypted in the state
     */
    'local.secret'?: {
      bytes?: Bytes;
      encoding?: Encoding;
      generation?: LocalSecretGeneration;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
    /**
     * A value that is kept in the state
     */
    'local.value'?: {
      input?: Input;
      /**
       * A map or a list of unique texts: one instance per key.
       */
      for_each?:
        | {
            [k: string]: unknown;
          }
        | string[]
        | string;
      /**
       * False leaves the resource out.
       */
      enabled?: boolean | string;
      depends_on?: DependsOn;
      /**
       * The alias of the provider block, as NAME:ALIAS.
       */
      provider?: string;
      role?: Role;
      update?: Update;
      lifecycle?: Lifecycle;
      timeouts?: Timeouts;
      /**
       * Addresses that must have converged before a two-phase resource is committed.
       */
      commit_after?: string[] | string;
    };
  };
  /**
   * Configuration of providers, by name or name:alias.
   */
  providers?: {
    /**
     * Images, networks, volumes and containers of a Docker Engine.
     */
    docker?: {
      /**
       * Address of the engine: `unix://`, `tcp://`, `ssh://` through the OpenSSH client, or `context://NAME` for a context of Docker's own; default `unix:///var/run/docker.sock`. DOCKER_HOST is not looked at.
       */
      host?: string;
      /**
       * Files for TLS with an engine at `tcp://`, each an absolute path or one that begins with `~/`. `{}` trusts what the machine trusts.
       */
      tls?:
        | {
            /**
             * Certificate of who vouches for the engine; those that the machine trusts when it is left out.
             */
            ca?: string;
            /**
             * Certificate to show to the engine.
             */
            cert?: string;
            /**
             * Key of that certificate.
             */
            key?: string;
          }
        | string;
      /**
       * Free text for references: how others reach what is published there.
       */
      address?: string;
      /**
       * Lets containers name images by tag; default false. A tag is looked up when its text is new, and the container keeps what it meant.
       */
      allow_tags?: boolean | string;
    };
    /**
     * Files on this machine, and values, secrets, keys and ports that are kept in the state
     */
    local?: {
      /**
       * The machine that holds the files. Only this one for now.
       */
      host?: 'local' | string;
      /**
       * Says that files of this machine are meant although other resources of the environment live on another one.
       */
      here?: boolean | string;
    };
    [k: string]:
      | {
          [k: string]: unknown;
        }
      | {
          /**
           * Address of the engine: `unix://`, `tcp://`, `ssh://` through the OpenSSH client, or `context://NAME` for a context of Docker's own; default `unix:///var/run/docker.sock`. DOCKER_HOST is not looked at.
           */
          host?: string;
          /**
           * Files for TLS with an engine at `tcp://`, each an absolute path or one that begins with `~/`. `{}` trusts what the machine trusts.
           */
          tls?:
            | {
                /**
                 * Certificate of who vouches for the engine; those that the machine trusts when it is left out.
                 */
                ca?: string;
                /**
                 * Certificate to show to the engine.
                 */
                cert?: string;
                /**
                 * Key of that certificate.
                 */
                key?: string;
              }
            | string;
          /**
           * Free text for references: how others reach what is published there.
           */
          address?: string;
          /**
           * Lets containers name images by tag; default false. A tag is looked up when its text is new, and the container keeps what it meant.
           */
          allow_tags?: boolean | string;
        }
      | {
          /**
           * The machine that holds the files. Only this one for now.
           */
          host?: 'local' | string;
          /**
           * Says that files of this machine are meant although other resources of the environment live on another one.
           */
          here?: boolean | string;
        }
      | undefined;
  };
  /**
   * By type and name: what the environment consists of.
   */
  resources?: {
    /**
     * A container that runs until it is told to end.
     */
    'docker.container'?: {
      [k: string]: {
        image: Image;
        name?: Name;
        command?: Command;
        entrypoint?: Entrypoint;
        environment?: DockerContainerEnvironment;
        env_file?: EnvFile;
        secrets?: Secrets;
        configs?: Configs;
        volumes?: Volumes;
        tmpfs?: Tmpfs;
        ports?: Ports;
        expose?: Expose;
        networks?: Networks;
        network_mode?: NetworkMode;
        hostname?: Hostname;
        extra_hosts?: ExtraHosts;
        dns?: Dns;
        dns_search?: DnsSearch;
        dns_opt?: DnsOpt;
        user?: User;
        group_add?: GroupAdd;
        working_dir?: WorkingDir;
        restart?: Restart;
        init?: Init;
        read_only?: ReadOnly;
        cap_add?: CapAdd;
        cap_drop?: CapDrop;
        security_opt?: SecurityOpt;
        privileged?: Privileged;
        devices?: Devices;
        gpus?: Gpus;
        ulimits?: Ulimits;
        sysctls?: Sysctls;
        shm_size?: ShmSize;
        mem_limit?: MemLimit;
        mem_reservation?: MemReservation;
        memswap_limit?: MemswapLimit;
        cpus?: Cpus;
        cpu_shares?: CpuShares;
        cpuset?: Cpuset;
        pids_limit?: PidsLimit;
        oom_score_adj?: OomScoreAdj;
        logging?: Logging;
        labels?: Labels;
        healthcheck?: Healthcheck;
        stop_signal?: StopSignal;
        stop_grace_period?: StopGracePeriod;
        pid?: Pid;
        ipc?: Ipc;
        platform?: Platform;
        runtime?: Runtime;
        renew_anon_volumes?: RenewAnonVolumes;
        ready?: Ready;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * An image on the engine, pulled by digest or loaded from an archive.
     */
    'docker.image'?: {
      [k: string]: {
        repository?: Repository;
        digest: Digest;
        platform?: DockerImagePlatform;
        archive?: Archive;
        expect?: Expect;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * What stands at a path of an image, by digest.
     */
    'docker.image_content'?: {
      [k: string]: {
        image: DockerImageContentImage;
        path: Path;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * The containers that carry a label, whoever made them.
     */
    'docker.inventory'?: {
      [k: string]: {
        selector: Selector;
        guard?: Guard;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A process in a container that runs to its end, when its inputs change or when it is asked for, and may leave a receipt.
     */
    'docker.job'?: {
      [k: string]: {
        image: Image;
        command?: Command;
        entrypoint?: Entrypoint;
        environment?: DockerContainerEnvironment;
        env_file?: EnvFile;
        secrets?: Secrets;
        configs?: Configs;
        volumes?: Volumes;
        tmpfs?: Tmpfs;
        networks?: DockerJobNetworks;
        network_mode?: NetworkMode;
        hostname?: Hostname;
        extra_hosts?: ExtraHosts;
        dns?: Dns;
        dns_search?: DnsSearch;
        dns_opt?: DnsOpt;
        user?: User;
        group_add?: GroupAdd;
        working_dir?: WorkingDir;
        init?: Init;
        read_only?: ReadOnly;
        cap_add?: CapAdd;
        cap_drop?: CapDrop;
        security_opt?: SecurityOpt;
        privileged?: Privileged;
        devices?: Devices;
        ulimits?: Ulimits;
        sysctls?: Sysctls;
        shm_size?: ShmSize;
        mem_limit?: DockerJobMemLimit;
        mem_reservation?: DockerJobMemReservation;
        memswap_limit?: DockerJobMemswapLimit;
        cpus?: DockerJobCpus;
        cpu_shares?: DockerJobCpuShares;
        cpuset?: DockerJobCpuset;
        pids_limit?: DockerJobPidsLimit;
        oom_score_adj?: OomScoreAdj;
        logging?: Logging;
        labels?: DockerJobLabels;
        stop_signal?: StopSignal;
        stop_grace_period?: StopGracePeriod;
        pid?: Pid;
        ipc?: Ipc;
        platform?: Platform;
        runtime?: Runtime;
        name?: DockerJobName;
        inputs?: Inputs;
        run?: Run;
        schedule?: Schedule;
        stage?: Stage;
        timeout?: Timeout;
        output?: Output;
        stdout?: Stdout;
        schema?: Schema;
        keep?: Keep;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A network of the engine.
     */
    'docker.network'?: {
      [k: string]: {
        name?: DockerNetworkName;
        /**
         * Network driver; default `bridge`.
         */
        driver?: string;
        driver_opts?: DriverOpts;
        internal?: Internal;
        attachable?: Attachable;
        ipv6?: Ipv6;
        ipam?: Ipam;
        labels?: Labels;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A named volume of the engine. It holds data and starts protected.
     */
    'docker.volume'?: {
      [k: string]: {
        name?: DockerNetworkName;
        /**
         * Volume driver; default `local`.
         */
        driver?: string;
        driver_opts?: DockerVolumeDriverOpts;
        labels?: Labels;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A self-signed TLS certificate and its key, made once, in two files on this machine
     */
    'local.certificate'?: {
      [k: string]: {
        names: Names;
        path?: LocalCertificatePath;
        validity_days?: ValidityDays;
        generation?: Generation;
        owner?: Owner;
        mode?: Mode;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A directory on this machine, marked as ours and never removed with content
     */
    'local.directory'?: {
      [k: string]: {
        path: LocalDirectoryPath;
        owner?: LocalDirectoryOwner;
        mode?: LocalDirectoryMode;
        marker?: Marker;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A file on this machine, put in place in one step
     */
    'local.file'?: {
      [k: string]: {
        path: LocalFilePath;
        content?: Content;
        source?: Source;
        mode?: LocalFileMode;
        owner?: LocalFileOwner;
        group?: Group;
        sensitive?: Sensitive;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A pair of signing keys, made once, the private one kept encrypted in the state
     */
    'local.keypair'?: {
      [k: string]: {
        algorithm?: Algorithm;
        generation?: LocalKeypairGeneration;
        overlap?: Overlap;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * Ports of a range, given to names once and kept in the state
     */
    'local.ports'?: {
      [k: string]: {
        range: Range;
        names: LocalPortsNames;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A random secret, made once and kept encrypted in the state
     */
    'local.secret'?: {
      [k: string]: {
        bytes?: Bytes;
        encoding?: Encoding;
        generation?: LocalSecretGeneration;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
    /**
     * A value that is kept in the state
     */
    'local.value'?: {
      [k: string]: {
        input: Input;
        /**
         * A map or a list of unique texts: one instance per key.
         */
        for_each?:
          | {
              [k: string]: unknown;
            }
          | string[]
          | string;
        /**
         * False leaves the resource out.
         */
        enabled?: boolean | string;
        depends_on?: DependsOn;
        /**
         * The alias of the provider block, as NAME:ALIAS.
         */
        provider?: string;
        role?: Role;
        update?: Update;
        lifecycle?: Lifecycle;
        timeouts?: Timeouts;
        /**
         * Addresses that must have converged before a two-phase resource is committed.
         */
        commit_after?: string[] | string;
      };
    };
  };
  /**
   * Values for the outside.
   */
  outputs?: {
    /**
     * A value that the environment gives to the outside.
     */
    [k: string]: {
      /**
       * The value.
       */
      value: unknown;
      /**
       * What it is.
       */
      description?: string;
    };
  };
  /**
   * Addresses that changed.
   */
  moved?: (
    | {
        /**
         * The old address.
         */
        from: string;
        /**
         * The new address.
         */
        to: string;
      }
    | {
        /**
         * The old name.
         */
        key: string;
        /**
         * The new name.
         */
        to: string;
        /**
         * The types in which the name changed.
         */
        in: [string, ...string[]] | string;
      }
    | string
  )[];
  /**
   * What is let go of without its object being destroyed, or destroyed on purpose.
   */
  removed?: (
    | {
        /**
         * The address that the documents do not hold any more.
         */
        address: string;
        /**
         * False forgets the object and leaves it in the world; true when left out.
         */
        destroy?: boolean | string;
      }
    | string
  )[];
  /**
   * Objects that exist already and become managed.
   */
  import?: (
    | {
        /**
         * The address that the object gets.
         */
        address: string;
        /**
         * How the provider names the object.
         */
        id: string;
      }
    | string
  )[];
  /**
   * The same keys as a document: maps merge, scalars and lists replace, null removes.
   */
  overrides?: {
    [k: string]: unknown;
  };
}

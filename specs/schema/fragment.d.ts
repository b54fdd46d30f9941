/** Generated from the schema of the same name. */

/**
 * Image by digest, `repository@sha256:…`, by its bare id, `sha256:…`, or as the map that a release has of it; by tag only where the provider says `allow_tags: true`.
 */
export type Image =
  | string
  | {
      repository: string;
      digest: string;
      tag?: string;
    };
/**
 * Name on the engine; default `<environment>-<name>[-<key>]`.
 */
export type Name = string;
/**
 * Arguments of the entrypoint, or the command itself; text is split into words as a shell does.
 */
export type Command = string | [(string | number | boolean) | string, ...((string | number | boolean) | string)[]];
/**
 * Replaces the entrypoint of the image; empty takes it away.
 */
export type Entrypoint = (string | [(string | number | boolean) | string, ...((string | number | boolean) | string)[]]) | '' | [] | string;
/**
 * Environment variables, as a map or a list of `NAME=VALUE`.
 */
export type DockerContainerEnvironment =
  | {
      [k: string]: string | number | boolean;
    }
  | string[]
  | string;
/**
 * Files of `NAME=VALUE` lines beside the document; `environment` is stronger.
 */
export type EnvFile = string | string[];
/**
 * Files with secret content, by path in the container; owned by its user with mode 0400.
 */
export type Secrets =
  | {
      [k: string]:
        | string
        | {
            value: string;
            uid?: number | string;
            gid?: number | string;
            mode?: string;
          };
    }
  | string;
/**
 * Files by path in the container; owned by root with mode 0444.
 */
export type Configs =
  | {
      [k: string]:
        | string
        | {
            content: string;
            uid?: number | string;
            gid?: number | string;
            mode?: string;
          };
    }
  | string;
/**
 * Mounts: `source:target[:options]` or the long form.
 */
export type Volumes =
  | (
      | string
      | {
          type: ('bind' | 'volume' | 'tmpfs') | string;
          source?: string;
          target: string;
          read_only?: boolean | string;
          bind?:
            | {
                propagation?: ('private' | 'rprivate' | 'shared' | 'rshared' | 'slave' | 'rslave') | string;
                create_host_path?: boolean | string;
                selinux?: ('z' | 'Z') | string;
              }
            | string;
          volume?:
            | {
                nocopy?: boolean | string;
              }
            | string;
          tmpfs?:
            | {
                size?: number | string;
                mode?: string;
              }
            | string;
        }
    )[]
  | string;
/**
 * Mounts in memory: `path[:options]`.
 */
export type Tmpfs = string | string[];
/**
 * Published ports: `[host_ip:][published]:target[/protocol]` or the long form.
 */
export type Ports =
  | (
      | (number | string)
      | {
          target: number | string;
          published?: number | string;
          host_ip?: string;
          protocol?: ('tcp' | 'udp' | 'sctp') | string;
        }
      | string
    )[]
  | string;
/**
 * Ports that are declared without being published.
 */
export type Expose = (number | string)[] | string;
/**
 * Networks by name: a list of names, a list of objects with `name`, or a map.
 */
export type Networks = DockerContainerNetworks | DefaultsDockerContainerNetworks | string;
export type Ipv6Address = string;
export type DockerContainerNetworks = (
  | string
  | {
      name: string;
      aliases?: string[] | string;
      ipv4_address?: string;
      ipv6_address?: Ipv6Address;
    }
)[];
/**
 * Uses no network of its own.
 */
export type NetworkMode = ('bridge' | 'host' | 'none') | string;
/**
 * Host name in the container; default its short id.
 */
export type Hostname = string;
/**
 * More lines of /etc/hosts: `HOST:ADDRESS`, or a map.
 */
export type ExtraHosts =
  | {
      [k: string]: string;
    }
  | string[]
  | string;
/**
 * Name servers.
 */
export type Dns = string | string[];
/**
 * Search domains.
 */
export type DnsSearch = string | string[];
/**
 * Options of the resolver.
 */
export type DnsOpt = string[] | string;
/**
 * User, `user[:group]`, by name or number.
 */
export type User = string | number;
/**
 * More groups of the user.
 */
export type GroupAdd = (string | number)[] | string;
/**
 * Working folder.
 */
export type WorkingDir = string;
/**
 * When the engine starts it again; default `no`.
 */
export type Restart = ('no' | 'always' | 'unless-stopped' | 'on-failure') | string;
/**
 * Runs an init process that forwards signals and reaps processes.
 */
export type Init = boolean | string;
/**
 * Mounts its file system for reading only.
 */
export type ReadOnly = boolean | string;
/**
 * Capabilities to add, with or without `CAP_`.
 */
export type CapAdd = string[] | string;
/**
 * Capabilities to drop, with or without `CAP_`.
 */
export type CapDrop = string[] | string;
/**
 * Security options, such as `no-new-privileges`.
 */
export type SecurityOpt = string[] | string;
/**
 * Gives it all privileges of the host.
 */
export type Privileged = boolean | string;
/**
 * Devices of the host: `source[:target[:permissions]]`.
 */
export type Devices = string[] | string;
/**
 * GPUs of the host: `all`, how many, or a list of `{ driver, count, device_ids, capabilities }`.
 */
export type Gpus =
  | 'all'
  | number
  | (
      | {
          driver?: string;
          count?: 'all' | number | string;
          device_ids?: [string, ...string[]] | string;
          capabilities?: string[] | string;
        }
      | string
    )[]
  | string;
/**
 * Limits of its processes: a number, or `{ soft, hard }`.
 */
export type Ulimits =
  | {
      [k: string]:
        | number
        | {
            soft: number | string;
            hard: number | string;
          }
        | string;
    }
  | string;
/**
 * Kernel parameters, as a map or a list.
 */
export type Sysctls =
  | {
      [k: string]: string | number | boolean;
    }
  | string[]
  | string;
/**
 * Size of /dev/shm; default 64m.
 */
export type ShmSize = number | string;
/**
 * Memory limit.
 */
export type MemLimit = number | string;
/**
 * Memory that it should get under pressure.
 */
export type MemReservation = number | string;
/**
 * Memory and swap together; -1 for no limit; default twice `mem_limit`.
 */
export type MemswapLimit = (number | string) | -1 | '-1' | string;
/**
 * Number of CPUs, in parts of one.
 */
export type Cpus = number | string;
/**
 * Share of CPU time under load; default 1024.
 */
export type CpuShares = number | string;
/**
 * CPUs on which it runs.
 */
export type Cpuset = string;
/**
 * Most processes; -1 for no limit.
 */
export type PidsLimit = number | string;
/**
 * How soon it is killed when memory runs out.
 */
export type OomScoreAdj = number | string;
/**
 * Log driver and its options; default those of the engine.
 */
export type Logging =
  | {
      driver?: string;
      options?:
        | {
            [k: string]: string | number | boolean;
          }
        | string;
    }
  | string;
/**
 * Labels, as a map or a list of `NAME=VALUE`.
 */
export type Labels =
  | {
      [k: string]: string | number | boolean;
    }
  | string[]
  | string;
/**
 * How the engine tells whether it is healthy; members that are left out come from the image.
 */
export type Healthcheck =
  | {
      /**
       * Text for a shell, or `[CMD, …]`, `[CMD-SHELL, text]`, `[NONE]`.
       */
      test?: string | [string, ...string[]];
      /**
       * Switches the check of the image off.
       */
      disable?: boolean | string;
      /**
       * Time between two checks.
       */
      interval?: string;
      /**
       * Time after which a check counts as failed.
       */
      timeout?: string;
      /**
       * Time in which failures do not count.
       */
      start_period?: string;
      /**
       * Time between two checks in the start period; engines from API 1.44.
       */
      start_interval?: string;
      /**
       * Failures in a row that make it unhealthy.
       */
      retries?: number | string;
    }
  | string;
/**
 * Signal that asks it to end.
 */
export type StopSignal = string;
/**
 * Time after that signal before it is killed, in whole seconds; default 10s.
 */
export type StopGracePeriod = string;
/**
 * Process namespace of the host or of another container.
 */
export type Pid = string;
/**
 * IPC namespace.
 */
export type Ipc = ('none' | 'private' | 'shareable' | 'host') | string;
/**
 * Platform that the image must be for.
 */
export type Platform = string;
/**
 * OCI runtime; default that of the engine.
 */
export type Runtime = string;
/**
 * Gives a successor new anonymous volumes and removes them with their container; otherwise they go over and are kept.
 */
export type RenewAnonVolumes = boolean | string;
/**
 * When it counts as ready: `{ docker: true }`, `{ http }`, `{ tcp }` or `{ command }`, with `timeout` (480s) and `interval` (1s).
 */
export type Ready =
  | {
      docker?: true | string;
      http?:
        | string
        | {
            url: string;
            in?: 'container' | string;
            status?: number | [number | string, ...(number | string)[]] | string;
            body?: string;
          };
      tcp?: string;
      command?: [string, ...string[]] | string;
      timeout?: string;
      interval?: string;
    }
  | string;
/**
 * Addresses of what must be there first; one with for_each means all instances.
 */
export type DependsOn =
  | (
      | string
      | {
          /**
           * The address that is needed.
           */
          address: string;
          /**
           * Restarts with it.
           */
          restart?: boolean | string;
        }
    )[]
  | string;
/**
 * The part that the resource plays, where its type allows several.
 */
export type Role =
  | (
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
      | 'infrastructure'
    )
  | string;
/**
 * How an object, and the instances of one for_each, are replaced.
 */
export type Update =
  | {
      /**
       * How many instances are replaced, restarted or started at once; default 1.
       */
      batch?: number | string;
      /**
       * Whether the old instance goes before the new one comes (the default), or after the new one is ready.
       */
      order?: ('stop-first' | 'start-first') | string;
      /**
       * How long the old instance goes on after everything has gone over to the new one; with order: start-first alone.
       */
      drain?: string;
      /**
       * How long to wait between two batches.
       */
      pause?: string;
    }
  | string;
/**
 * What may happen to the object.
 */
export type Lifecycle =
  | {
      /**
       * The object is never removed or replaced.
       */
      prevent_destroy?: boolean | string;
      /**
       * Paths of attributes whose differences are left alone, or all.
       */
      ignore_changes?: 'all' | string[] | string;
      /**
       * A replacement is made before the old object goes.
       */
      create_before_destroy?: boolean | string;
      /**
       * Addresses, or paths of their attributes, whose change replaces this object.
       */
      replace_triggered_by?: string[] | string;
      /**
       * What must hold before the object is changed.
       */
      preconditions?: Preconditions | string;
      /**
       * What must hold after the object was changed.
       */
      postconditions?: Preconditions | string;
      /**
       * Affirms what happens to data that would stay behind.
       */
      data?: ('copied' | 'empty') | string;
      /**
       * Going back after a new version touched the data is safe.
       */
      reversible?: boolean | string;
    }
  | string;
/**
 * Items: A condition.
 */
export type Preconditions = (
  | {
      /**
       * An expression that must be true, as ${…}.
       */
      that: string;
      /**
       * What is said when it is not.
       */
      message: string;
    }
  | string
)[];
/**
 * How long effects may take.
 */
export type Timeouts =
  | {
      /**
       * How long making the object may take.
       */
      create?: string;
      /**
       * How long replacing the object may take.
       */
      replace?: string;
      /**
       * How long removing the object may take.
       */
      remove?: string;
      /**
       * How long the object may take to get ready.
       */
      ready?: string;
    }
  | string;
/**
 * Where it comes from. An image that is loaded from an archive needs none.
 */
export type Repository = string;
/**
 * Digest of its manifest, or for an archive the id of the image.
 */
export type Digest = string;
/**
 * Platform that it must be for.
 */
export type DockerImagePlatform = string;
/**
 * File of `docker save` beside the document to load it from.
 */
export type Archive = string;
/**
 * What it must declare of itself.
 */
export type Expect =
  | {
      /**
       * Value of `org.opencontainers.image.revision`.
       */
      revision?: string;
      /**
       * Value of `org.opencontainers.image.source`.
       */
      source?: string;
      /**
       * Its entrypoint.
       */
      entrypoint?: string | string[];
    }
  | string;
/**
 * Image by digest, `repository@sha256:…`, or by its bare id; mostly a reference to a `docker.image`.
 */
export type DockerImageContentImage = string;
/**
 * File or folder in the image. Symbolic links on the way are not followed.
 */
export type Path = string;
/**
 * Which containers are meant, running or not.
 */
export type Selector =
  | {
      /**
       * Label that a container has to carry, `NAME=VALUE` or `NAME`; all of several.
       */
      label: string | [string | string, ...(string | string)[]];
    }
  | string;
/**
 * What has to hold, or the plan is refused: `subset`, each of them is one of this environment; `equal`, and each container of this environment is one of them. Default `none`.
 */
export type Guard = ('none' | 'subset' | 'equal') | string;
/**
 * Networks by name: a list of names, a list of objects with `name`, or a map.
 */
export type DockerJobNetworks = DockerContainerNetworks | DefaultsDockerContainerNetworks | string;
/**
 * Memory limit.
 */
export type DockerJobMemLimit = number | string;
/**
 * Memory that it should get under pressure.
 */
export type DockerJobMemReservation = number | string;
/**
 * Memory and swap together; -1 for no limit; default twice `mem_limit`.
 */
export type DockerJobMemswapLimit = (number | string) | -1 | '-1' | string;
/**
 * Number of CPUs, in parts of one.
 */
export type DockerJobCpus = number | string;
/**
 * Share of CPU time under load; default 1024.
 */
export type DockerJobCpuShares = number | string;
/**
 * CPUs on which it runs.
 */
export type DockerJobCpuset = string;
/**
 * Most processes; -1 for no limit.
 */
export type DockerJobPidsLimit = number | string;
/**
 * Labels, as a map or a list of `NAME=VALUE`.
 */
export type DockerJobLabels =
  | {
      [k: string]: string | number | boolean;
    }
  | string[]
  | string;
/**
 * Name of its container on the engine; default `<environment>-<name>[-<key>]`.
 */
export type DockerJobName = string;
/**
 * Any values that count as inputs of the run beside its other attributes.
 */
export type Inputs = unknown;
/**
 * When it runs: `on_change`, when its inputs differ from those of the last completed run; `once`, when no run ever completed with them; `on_demand`, when `accede run ADDRESS` is called; `by_reference`, when it is given a request, one JSON document that it finds at `/accede/request.json`. Default `on_change`.
 */
export type Run = ('on_change' | 'once' | 'on_demand' | 'by_reference') | string;
/**
 * When an `on_demand` job is due, in the five fields of cron (minute, hour, day of the month, month, day of the week; UTC) or as `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Nothing runs by it alone: it is for what runs `accede run ADDRESS`.
 */
export type Schedule = string;
/**
 * Stage in which it runs; default `migrate`.
 */
export type Stage = ('migrate' | 'start' | 'verify') | string;
/**
 * Time after which it is stopped and counts as failed; default `10m`, at most `24h`.
 */
export type Timeout = string;
/**
 * File in the container that holds its receipt: one JSON document of at most 1 MiB.
 */
export type Output = string;
/**
 * Takes its standard output as the receipt; what it logs belongs on standard error.
 */
export type Stdout = boolean | string;
/**
 * File beside the document with the JSON Schema (draft-07 or 2020-12) that the receipt has to fit, from the next run on.
 */
export type Schema = string;
/**
 * How many containers of earlier completed runs stay for reading; default 0.
 */
export type Keep = number | string;
/**
 * Name on the engine; default `<environment>-<name>[-<key>]`.
 */
export type DockerNetworkName = string;
/**
 * Options of the driver.
 */
export type DriverOpts =
  | {
      [k: string]: string | number | boolean;
    }
  | string;
/**
 * Whether it is cut off from the outside.
 */
export type Internal = boolean | string;
/**
 * Whether single containers may join a Swarm network.
 */
export type Attachable = boolean | string;
/**
 * Whether it carries IPv6.
 */
export type Ipv6 = boolean | string;
/**
 * Address management.
 */
export type Ipam =
  | {
      /**
       * Address management driver; default `default`.
       */
      driver?: string;
      /**
       * Address pools; the engine chooses one when there is none.
       */
      config?:
        | (
            | {
                subnet?: string;
                gateway?: string;
                ip_range?: string;
                aux_addresses?:
                  | {
                      [k: string]: string;
                    }
                  | string;
              }
            | string
          )[]
        | string;
    }
  | string;
/**
 * Options of the driver.
 */
export type DockerVolumeDriverOpts =
  | {
      [k: string]: string | number | boolean;
    }
  | string;
/**
 * Host names and addresses that it is for. Others make a new certificate and key.
 */
export type Names = [string | string, ...(string | string)[]] | string;
/**
 * The directory of its two files, certificate.pem and key.pem; it is made, and the one above it has to be there. A relative path starts at the folder of the document. Default .accede/certificates/ and its name.
 */
export type LocalCertificatePath = string;
/**
 * For how many days it is valid. Default 365. Another number makes a new one.
 */
export type ValidityDays = number | string;
/**
 * Counts the certificates: another number makes a new one with a new key. Default 1.
 */
export type Generation = number | string;
/**
 * The user who owns both files, by name or number. Without it the owner is not looked at.
 */
export type Owner = string | number;
/**
 * Permission bits of the key in octal, quoted. Default "0600". The certificate has 0644.
 */
export type Mode = string;
/**
 * Where the directory stands; the one above it has to be there. A relative path starts at the folder of the document.
 */
export type LocalDirectoryPath = string;
/**
 * The user who owns the directory, by name or number. Without it the owner is not looked at.
 */
export type LocalDirectoryOwner = string | number;
/**
 * Permission bits in octal, quoted. Default "0700".
 */
export type LocalDirectoryMode = string;
/**
 * Whether a file .accede-directory in it says whose it is. Default true: a directory without our marker is refused, such as the empty place where a disk is not mounted.
 */
export type Marker = boolean | string;
/**
 * Where the file stands. A relative path starts at the folder of the document.
 */
export type LocalFilePath = string;
/**
 * The text of the file. Either this or `source`.
 */
export type Content = string;
/**
 * A file beside the document whose bytes are the content. Either this or `content`.
 */
export type Source = string;
/**
 * Permission bits in octal, quoted. Default "0644".
 */
export type LocalFileMode = string;
/**
 * The user who owns the file, by name or number. Without it the owner is not looked at.
 */
export type LocalFileOwner = string | number;
/**
 * The group of the file, by name or number. Without it the group is not looked at.
 */
export type Group = string | number;
/**
 * Treats the content as a secret although it was written in the open.
 */
export type Sensitive = boolean | string;
/**
 * What kind of keys. Only ed25519, which is the default.
 */
export type Algorithm = 'ed25519' | string;
/**
 * Counts the pairs: another number makes a new one. Default 1.
 */
export type LocalKeypairGeneration = number | string;
/**
 * How many former public keys stay in `public_keys`, so that what they signed is taken for a while. Default 1; 0 lets them go.
 */
export type Overlap = number | string;
/**
 * The ports to give away, as "20000-20099". Nothing else should use them; those of two resources must not overlap.
 */
export type Range = string;
/**
 * Who gets a port. A name keeps its port for as long as it stands here.
 */
export type LocalPortsNames = [string | string, ...(string | string)[]] | string;
/**
 * How many random bytes it has. Default 32. Another number makes a new value.
 */
export type Bytes = number | string;
/**
 * How the bytes are written as text. Default hex. Another one makes a new value.
 */
export type Encoding = ('hex' | 'base64' | 'base64url') | string;
/**
 * Counts the values: another number makes a new one. Default 1.
 */
export type LocalSecretGeneration = number | string;
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
export interface DefaultsDockerContainerNetworks {
  [k: string]:
    | {
        aliases?: string[] | string;
        ipv4_address?: string;
        ipv6_address?: Ipv6Address;
      }
    | null
    | string;
}

import { z } from 'zod';

/**
 * The engine's replies, as far as they are read. Members that some versions leave out or send as null are absent here; members that are not
 * named are ignored.
 */

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const number = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);
const boolean = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);
const texts = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);
const textMap = z
  .record(z.string(), z.string())
  .nullish()
  .transform((value) => value ?? {});
const keys = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((value) => Object.keys(value ?? {}));

export const versionReply = z.object({ Version: z.string(), ApiVersion: z.string(), MinAPIVersion: text, Os: text, Arch: text });

export const infoReply = z.object({ LoggingDriver: text, DefaultRuntime: text, NCPU: number, SwapLimit: boolean, MemTotal: number });
export type EngineInfo = z.output<typeof infoReply>;

export const containerListReply = z.array(
  z.object({ Id: z.string(), Names: texts, ImageID: text, Labels: textMap, State: text, Created: number }),
);
export type ContainerEntry = z.output<typeof containerListReply>[number];

const healthcheck = z
  .object({ Test: texts, Interval: number, Timeout: number, StartPeriod: number, StartInterval: number, Retries: number })
  .nullish()
  .transform((value) => value ?? undefined);
export type WireHealthcheck = NonNullable<z.output<typeof healthcheck>>;

const portBindings = z
  .record(
    z.string(),
    z
      .array(z.object({ HostIp: text, HostPort: text }))
      .nullish()
      .transform((value) => value ?? []),
  )
  .nullish()
  .transform((value) => value ?? {});

const endpoint = z.object({
  NetworkID: text,
  Aliases: texts,
  IPAddress: text,
  GlobalIPv6Address: text,
  IPAMConfig: z
    .object({ IPv4Address: text, IPv6Address: text })
    .nullish()
    .transform((value) => value ?? undefined),
});

const mount = z.object({ Type: text, Name: text, Source: text, Destination: z.string(), Mode: text, RW: boolean, Propagation: text });
export type WireMount = z.output<typeof mount>;

const requestedMount = z.object({
  Type: text,
  Source: text,
  Target: text,
  VolumeOptions: z
    .object({ NoCopy: boolean })
    .nullish()
    .transform((value) => value ?? undefined),
  TmpfsOptions: z
    .object({ SizeBytes: number, Mode: number })
    .nullish()
    .transform((value) => value ?? undefined),
});

export const containerReply = z.object({
  Id: z.string(),
  Name: z.string().transform((name) => name.replace(/^\//, '')),
  Image: text,
  RestartCount: number,
  State: z.object({
    Status: text,
    Running: boolean,
    Paused: boolean,
    Restarting: boolean,
    OOMKilled: boolean,
    Dead: boolean,
    ExitCode: number,
    Error: text,
    StartedAt: text,
    FinishedAt: text,
    Health: z
      .object({
        Status: text,
        FailingStreak: number,
        Log: z
          .array(z.object({ ExitCode: number, Output: text }))
          .nullish()
          .transform((value) => value ?? []),
      })
      .nullish()
      .transform((value) => value ?? undefined),
  }),
  Config: z.object({
    Hostname: text,
    User: text,
    Tty: boolean,
    Env: texts,
    Cmd: z.array(z.string()).nullish(),
    Entrypoint: z.array(z.string()).nullish(),
    Image: text,
    Labels: textMap,
    WorkingDir: text,
    ExposedPorts: keys,
    Volumes: keys,
    Healthcheck: healthcheck,
    StopSignal: text,
    StopTimeout: z.number().nullish(),
  }),
  HostConfig: z.object({
    NetworkMode: text,
    PortBindings: portBindings,
    RestartPolicy: z.object({ Name: text, MaximumRetryCount: number }),
    Binds: texts,
    Mounts: z
      .array(requestedMount)
      .nullish()
      .transform((value) => value ?? []),
    Tmpfs: textMap,
    CapAdd: texts,
    CapDrop: texts,
    SecurityOpt: texts,
    Privileged: boolean,
    ReadonlyRootfs: boolean,
    Init: z.boolean().nullish(),
    Dns: texts,
    DnsSearch: texts,
    DnsOptions: texts,
    ExtraHosts: texts,
    GroupAdd: texts,
    Devices: z
      .array(z.object({ PathOnHost: text, PathInContainer: text, CgroupPermissions: text }))
      .nullish()
      .transform((value) => value ?? []),
    DeviceRequests: z
      .array(
        z.object({
          Driver: text,
          Count: number,
          DeviceIDs: texts,
          Capabilities: z
            .array(texts)
            .nullish()
            .transform((value) => value ?? []),
        }),
      )
      .nullish()
      .transform((value) => value ?? []),
    Ulimits: z
      .array(z.object({ Name: z.string(), Soft: number, Hard: number }))
      .nullish()
      .transform((value) => value ?? []),
    Sysctls: textMap,
    ShmSize: number,
    Memory: number,
    MemoryReservation: number,
    MemorySwap: number,
    NanoCpus: number,
    CpuQuota: number,
    CpuPeriod: number,
    CpuShares: number,
    CpusetCpus: text,
    PidsLimit: number,
    OomScoreAdj: number,
    LogConfig: z.object({ Type: text, Config: textMap }),
    PidMode: text,
    IpcMode: text,
    Runtime: text,
  }),
  Mounts: z
    .array(mount)
    .nullish()
    .transform((value) => value ?? []),
  NetworkSettings: z.object({
    Ports: portBindings,
    Networks: z
      .record(z.string(), endpoint)
      .nullish()
      .transform((value) => value ?? {}),
  }),
});
export type ContainerReply = z.output<typeof containerReply>;

export const imageReply = z.object({
  Id: z.string(),
  RepoTags: texts,
  RepoDigests: texts,
  Os: text,
  Architecture: text,
  Variant: text,
  Config: z
    .object({
      User: text,
      Env: texts,
      Cmd: texts,
      Entrypoint: texts,
      Labels: textMap,
      WorkingDir: text,
      ExposedPorts: keys,
      Volumes: keys,
      Healthcheck: healthcheck,
      StopSignal: text,
    })
    .nullish()
    .transform((value) => value ?? undefined),
});
export type ImageReply = z.output<typeof imageReply>;

export const networkReply = z.object({
  Id: z.string(),
  Name: z.string(),
  Driver: text,
  Scope: text,
  EnableIPv6: boolean,
  Internal: boolean,
  Attachable: boolean,
  IPAM: z
    .object({
      Driver: text,
      Config: z
        .array(z.object({ Subnet: text, Gateway: text, IPRange: text, AuxiliaryAddresses: textMap }))
        .nullish()
        .transform((value) => value ?? []),
    })
    .nullish()
    .transform((value) => value ?? undefined),
  Options: textMap,
  Labels: textMap,
  Containers: z
    .record(z.string(), z.object({ Name: text }))
    .nullish()
    .transform((value) => value ?? {}),
});
export type NetworkReply = z.output<typeof networkReply>;
export const networkListReply = z.array(networkReply);

export const volumeReply = z.object({ Name: z.string(), Driver: text, Mountpoint: text, Options: textMap, Labels: textMap });
export type VolumeReply = z.output<typeof volumeReply>;
export const volumeListReply = z.object({
  Volumes: z
    .array(volumeReply)
    .nullish()
    .transform((value) => value ?? []),
});

export const createdReply = z.object({ Id: z.string() });
export const execReply = z.object({ Running: boolean, ExitCode: z.number().nullish() });

/** One line of the engine's progress when it pulls or loads. */
export const progressLine = z.object({
  status: text,
  stream: text,
  error: text,
  // Newer engines tell the failure here alone.
  errorDetail: z
    .object({ message: text })
    .nullish()
    .transform((value) => value?.message ?? ''),
  id: text,
  progressDetail: z
    .object({ current: number, total: number })
    .nullish()
    .transform((value) => value ?? undefined),
});

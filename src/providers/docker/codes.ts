import type { CodeTable } from '../../core/codes/entry.ts';

/** Codes of the Docker provider. Those that begin with DOCKER_ say why a live object cannot be seen. */
export const DOCKER_CODES: CodeTable = {
  ANONYMOUS_VOLUME: {
    summary: 'The image of a container declares a volume that the document does not mount, so its data has no name. It is kept.',
    remedy: 'Write the lines of the message, which give the volume a name, or renew_anon_volumes: true where its data is worth nothing.',
    exit: [0],
  },
  CONTAINER_FOREIGN: {
    summary: 'A container of that name is there and is not ours. It stays as it is.',
    remedy: 'Rename yours, remove that one by hand, or take it over with accede import.',
    exit: [1, 3],
  },
  DOCKER_API_UNSUPPORTED: {
    summary: 'The Docker Engine speaks no version of the API that this provider speaks.',
    remedy: 'Use an engine of the expected age.',
    exit: [1, 3],
  },
  DOCKER_CONFLICT: {
    summary: 'The engine cannot tell what is live: it answered with a conflict.',
    remedy: 'Plan again; if it stays, look at the object on the engine.',
    exit: [1, 3],
  },
  DOCKER_EXHAUSTED: {
    summary: 'The engine cannot tell what is live: it is out of room.',
    remedy: 'Make room on its machine, and plan again.',
    exit: [1, 3],
  },
  DOCKER_FORBIDDEN: { summary: 'The engine does not let this user read.', remedy: 'Give this user access to the engine.', exit: [1, 3] },
  DOCKER_HOST_UNUSABLE: {
    summary: 'A context or a certificate that the address of the Docker Engine needs is missing or damaged.',
    remedy: 'Correct the host or tls of the provider, or the file that is named.',
    exit: [1, 3],
  },
  DOCKER_INVALID: {
    summary: 'The engine refused a read as wrong.',
    remedy: 'Check that what answers at host is a Docker Engine of the expected age.',
    exit: [1, 3],
  },
  DOCKER_NOT_FOUND: { summary: 'Something that was to be read vanished while the engine was asked.', remedy: 'Plan again.', exit: [1, 3] },
  DOCKER_OTHER: { summary: 'The engine failed to answer a read.', remedy: 'Read the message of the engine.', exit: [1, 3] },
  DOCKER_TIMEOUT: {
    summary: 'The engine did not answer a read in time.',
    remedy: 'Find out why it is slow, and plan again.',
    exit: [1, 3],
  },
  DOCKER_TLS_WITHOUT_TCP: {
    summary: 'A provider has tls, and its host is not one of tcp://.',
    remedy: 'Leave tls out, or write tcp://.',
    exit: [1, 3],
  },
  DOCKER_UNKNOWN_OUTCOME: {
    summary: 'The connection broke during a read, so it is not known what is live.',
    remedy: 'Plan again.',
    exit: [1, 3],
  },
  DOCKER_UNREACHABLE: {
    summary: 'The Docker Engine cannot be reached.',
    remedy: "Start it, or correct the provider's host.",
    exit: [1, 3],
  },
  ENV_FILE_LINE: {
    summary: 'An environment file has lines that are not NAME=VALUE.',
    remedy: 'Correct the lines that are named.',
    exit: [1],
  },
  ENV_FILE_NOT_TEXT: { summary: 'An environment file is not UTF-8 text.', remedy: 'Save it as UTF-8.', exit: [1] },
  IMAGE_CONTENT_LINK: {
    summary: 'A symbolic link stands on the way to the path in an image.',
    remedy: 'Name the path that the link leads to.',
    exit: [1, 3],
  },
  IMAGE_FOREIGN: {
    summary: 'The image is there and belongs to somebody else. It stays as it is.',
    remedy: 'Name another image, or take it over with accede import.',
    exit: [1, 3],
  },
  IMAGE_NOT_PINNED: {
    summary: 'An image is named by a tag, which may mean another image tomorrow.',
    remedy: 'Name it by its digest, or set allow_tags: true on the provider.',
    exit: [1],
  },
  IMAGE_WITHOUT_ORIGIN: { summary: 'An image has neither a repository nor an archive.', remedy: 'Give one of them.', exit: [1] },
  INVENTORY_FOREIGN: {
    summary: 'Containers that carry the label of a guarded inventory are not of this environment.',
    remedy: 'Remove them or their label by hand, or take them over with accede import.',
    exit: [1, 3],
  },
  INVENTORY_INCOMPLETE: {
    summary: 'Containers of this environment do not carry the label of an inventory with guard: equal.',
    remedy: 'Give them the label, or ask for guard: subset.',
    exit: [1, 3],
  },
  JOB_FOREIGN: {
    summary: "A container of the job's name is there and is not ours. It stays as it is.",
    remedy: 'Rename yours, or remove that one by hand.',
    exit: [1, 3],
  },
  JOB_OUTPUT_TWICE: {
    summary: 'A job names two receipts.',
    remedy: 'Keep output or stdout, not both.',
    exit: [1],
  },
  JOB_SCHEDULE_UNUSED: {
    summary: 'A job has a schedule and is not run on demand.',
    remedy: 'Add run: on_demand, or take the schedule away.',
    exit: [1],
  },
  JOB_SCHEMA_UNREADABLE: {
    summary: "The schema file of a job's receipt holds no JSON Schema.",
    remedy: 'Correct the file.',
    exit: [1],
  },
  JOB_WITHOUT_OUTPUT: {
    summary: 'A job has a schema for its receipt and no receipt.',
    remedy: 'Add output or stdout, or take the schema away.',
    exit: [1],
  },
  LABEL_RESERVED: {
    summary: 'A label begins with the prefix that marks objects of an environment.',
    remedy: 'Choose another name.',
    exit: [1],
  },
  MEMORY_LIMIT: { summary: 'A memory limit is smaller than the engine accepts.', remedy: 'Give at least 6m.', exit: [1] },
  MEMORY_RESERVATION: { summary: 'mem_reservation is more than mem_limit.', remedy: 'Lower it, or raise the limit.', exit: [1] },
  MEMORY_SWAP: {
    summary: 'memswap_limit counts memory and swap together, and is less than mem_limit or without one.',
    remedy: 'Give mem_limit, and a memswap_limit that is not less.',
    exit: [1],
  },
  MOUNT_TWICE: { summary: 'Two mounts end at one path.', remedy: 'Take one of them away.', exit: [1] },
  MOUNT_WITHOUT_SOURCE: { summary: 'A bind mount has no source.', remedy: 'Give a path on the host.', exit: [1] },
  NAME_IS_SECRET: {
    summary: 'The name of an object comes from a secret, and names are shown.',
    remedy: 'Use a value that is no secret.',
    exit: [1],
  },
  NETWORKS_AND_MODE: { summary: 'A container has networks and a network_mode that joins none.', remedy: 'Keep one of the two.', exit: [1] },
  NETWORK_AMBIGUOUS: {
    summary: 'The engine has several networks of one name, and containers join by name.',
    remedy: 'Remove all but one of them.',
    exit: [1, 3],
  },
  NETWORK_FOREIGN: {
    summary: 'A network of that name is there and is not ours. It stays as it is.',
    remedy: 'Rename yours, remove that one by hand, or take it over with accede import.',
    exit: [1, 3],
  },
  NETWORK_MODE_CONFLICT: {
    summary: 'An attribute means nothing with the network mode of the container.',
    remedy: 'Take the attribute or the mode away.',
    exit: [1],
  },
  NETWORK_PREDEFINED: {
    summary: 'A predefined network of the engine stands in networks.',
    remedy: 'Write network_mode instead, or name a docker.network.',
    exit: [1],
  },
  PORT_OUT_OF_RANGE: { summary: 'A published port is not between 1 and 65535.', remedy: 'Give another port.', exit: [1] },
  PORT_TWICE: { summary: 'A port is published twice.', remedy: 'Take one of the two away.', exit: [1] },
  READ_ONLY_FILES: {
    summary: 'Files, or the request of a job, would be copied into a container whose root is read-only.',
    remedy: 'Mount files from the host, or leave read_only out.',
    exit: [1],
  },
  RELATIVE_MOUNT_REMOTE: {
    summary: 'A bind mount has a relative path, and the engine is on another machine.',
    remedy: 'Write an absolute path of that machine, or use configs.',
    exit: [1],
  },
  SECCOMP_PROFILE: {
    summary: 'security_opt names a seccomp profile in a file, which is not available yet.',
    remedy: 'Write seccomp=unconfined, or leave the option out for the default profile.',
    exit: [1],
  },
  TAG_MOVED: {
    summary: 'A tag means another image in its registry than the one that the container was made from. The container keeps its image.',
    remedy: 'To take the new image, name it by its digest, alone or beside the tag.',
    exit: [0],
  },
  TAG_NOT_LOOKED_UP: {
    summary: 'It could not be told what a tag means in its registry now.',
    remedy: 'Correct what the message says of the registry, or plan without --refresh-tags.',
    exit: [0],
  },
  VOLUME_FOREIGN: {
    summary: 'A volume of that name is there and is not ours. It stays as it is.',
    remedy: 'Rename yours, remove that one by hand, or take it over with accede import.',
    exit: [1, 3],
  },
};

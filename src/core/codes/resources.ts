import type { CodeTable } from './entry.ts';

/** Codes of what the documents describe. */
export const RESOURCE_CODES: CodeTable = {
  BAD_ADDRESS: {
    summary: 'A text stands where an address has to stand, and is none.',
    remedy: 'Write PROVIDER.TYPE.NAME, with ["KEY"] behind it for one instance of several.',
    exit: [1],
  },
  BAD_INSTANCE_KEY: { summary: 'A key of for_each cannot name an instance.', remedy: 'Use letters, digits, _, - and . only.', exit: [1] },
  BAD_KEY: { summary: 'A key has a form that is not allowed at its place.', remedy: 'Correct the key as the message says.', exit: [1] },
  BAD_NAME: { summary: 'A name has a form that is not allowed.', remedy: 'Use letters, digits, _, - and . only.', exit: [1] },
  BAD_ROLE: {
    summary: 'A resource has a role that its type cannot have.',
    remedy: 'Choose one of the roles that are named, or leave role: out.',
    exit: [1],
  },
  BAD_VALUE: { summary: 'A value has the right type and is not allowed.', remedy: 'Write a value as it is expected there.', exit: [1] },
  CANNOT_RESTART: {
    summary: 'A dependency says restart: true on a resource that does not run.',
    remedy: 'Name the address alone.',
    exit: [1],
  },
  COMPUTED_ATTRIBUTE: { summary: 'An attribute is set that the provider computes.', remedy: 'Remove it; it can only be read.', exit: [1] },
  CYCLE: {
    summary: 'Resources or locals need one another in a circle.',
    remedy: 'Take one of the references or depends_on entries of the circle away.',
    exit: [1],
  },
  DISABLED_RESOURCE: {
    summary: 'A resource needs another one whose enabled is false.',
    remedy: 'Enable the other one, or take the reference away.',
    exit: [1],
  },
  DUPLICATE_IDENTITY: {
    summary: 'Two resources would be the same live object.',
    remedy: 'Give one of them another name, or remove it.',
    exit: [1],
  },
  DUPLICATE_INSTANCE_KEY: { summary: 'A text stands twice in the list of a for_each.', remedy: 'Remove one of the two.', exit: [1] },
  HOST_MISMATCH: {
    summary: 'One provider acts on this machine while another one speaks to another host.',
    remedy: 'Say here: true in the block of the local one if that is meant.',
    exit: [1],
  },
  MISSING_KEY: { summary: 'A required key is missing.', remedy: 'Add it.', exit: [1] },
  MISSING_VARIABLE: {
    summary: 'A variable has no default and was given no value.',
    remedy: 'Give it with --var, in a --var-file, or as ACCEDE_VAR_name.',
    exit: [1],
  },
  MOVED_NOWHERE: {
    summary: 'A moved entry leads to nothing that exists, or to itself.',
    remedy: 'Correct its to:, or take the entry away.',
    exit: [1],
  },
  NOT_AVAILABLE: {
    summary: 'A key is known, and what it asks for is not available yet.',
    remedy: 'Leave it out; nothing is ever ignored silently.',
    exit: [1],
  },
  PASSPHRASE_IN_CLEAR: {
    summary: 'The passphrase of the state stands in the documents or in a variable.',
    remedy: 'Write it as ${secrets.NAME}, with a secret that reads an environment variable, a file or a program.',
    exit: [1],
  },
  PASSPHRASE_SHORT: {
    summary: 'The passphrase of the state is so short that it can be guessed.',
    remedy: 'Take a longer one, or a key file.',
    exit: [1],
  },
  PROVIDER_NOT_CONFIGURED: {
    summary: 'A provider is used without the configuration that it needs.',
    remedy: 'Write its block under providers:.',
    exit: [1],
  },
  REMOVED_AND_DEFINED: {
    summary: 'A resource stands under removed: and under resources: at once.',
    remedy: 'Remove one of the two.',
    exit: [1],
  },
  ROLE_CONTRADICTION: {
    summary: 'The role of a resource contradicts its entry in the release.',
    remedy: 'Make resource and release agree.',
    exit: [1],
  },
  SECRET_NOT_ALLOWED_HERE: {
    summary: 'A secret stands where its value would be shown.',
    remedy: 'Use a value that is no secret.',
    exit: [1],
  },
  SECRET_NOT_JSON: {
    summary: 'A secret with format: json is no JSON map.',
    remedy: 'Correct what its source gives, or its format:.',
    exit: [1],
  },
  SECRET_UNREADABLE: {
    summary: 'A secret cannot be read from its source.',
    remedy: 'Make the source readable; accede plan --secrets=skip looks without it.',
    exit: [1],
  },
  SELF_REFERENCE: { summary: 'A resource refers to itself.', remedy: 'Take the reference away.', exit: [1] },
  UNKNOWN_ATTRIBUTE: {
    summary: 'A path leads to no attribute of the type.',
    remedy: 'Correct the path; specs/types lists the attributes.',
    exit: [1],
  },
  UNKNOWN_INSTANCE: { summary: 'A reference names an instance that the for_each does not have.', remedy: 'Correct the key.', exit: [1] },
  UNKNOWN_KEY: { summary: 'A key is not known at its place.', remedy: 'Correct its spelling, or remove it.', exit: [1] },
  UNKNOWN_PROVIDER: { summary: 'No provider has that name.', remedy: 'Correct the name of the type or of the provider block.', exit: [1] },
  UNKNOWN_RESOURCE: {
    summary: 'A reference names a resource that does not exist.',
    remedy: 'Correct the address, or describe the resource.',
    exit: [1],
  },
  UNKNOWN_TYPE: {
    summary: 'No provider has a resource type of that name.',
    remedy: 'Correct the type; when the state holds it, use the Accede that recorded it, or accede state rm.',
    exit: [1],
  },
  UNKNOWN_VARIABLE: {
    summary: 'A value is given for a variable that no document declares.',
    remedy: 'Declare it under variables:, or correct the name.',
    exit: [1],
  },
  UPDATE_CONTRADICTION: {
    summary: 'The update key of a resource contradicts its lifecycle, or itself.',
    remedy: 'Keep one of the two keys that are named.',
    exit: [1],
  },
  VALUE_TOO_LARGE: {
    summary: 'A value has more members or characters than are kept.',
    remedy: 'Make it smaller, or keep it in a file.',
    exit: [1],
  },
  WRONG_TYPE: { summary: 'A value has the wrong type.', remedy: 'Write a value of the expected type.', exit: [1] },
};

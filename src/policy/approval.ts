import { z } from 'zod';
import { canonicalText, type Digest, isDigest } from '../core/canonical.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { isSignedBy, type PrivateKey, parsePublicKey, signBytes, strictBase64 } from '../core/ed25519.ts';
import type { Plain } from '../core/value.ts';

export const APPROVAL_FORMAT = 'accede.approval/v1';
export const APPROVALS_FORMAT = 'accede.approvals/v1';

/** One signature over the digest of a plan. Everything in it but the signature is signed. */
export interface Approval {
  readonly format: typeof APPROVAL_FORMAT;
  readonly plan: Digest;
  /** The public half of the key, `ed25519:…`. */
  readonly key: string;
  /** ISO 8601, UTC: when it was signed, as the signer's clock had it. */
  readonly at: string;
  /** Base64. */
  readonly signature: string;
}

const approvalSchema = z.strictObject({
  format: z.literal(APPROVAL_FORMAT),
  plan: z.custom<Digest>((value) => typeof value === 'string' && isDigest(value), 'a digest'),
  key: z.string().max(200),
  at: z.iso.datetime(),
  signature: z.string().max(200),
});

const fileSchema = z.strictObject({ format: z.literal(APPROVALS_FORMAT), approvals: z.array(z.unknown()).max(1000) });

/** Signs the digest of a plan. */
export function signApproval(plan: Digest, key: PrivateKey, at: string): Approval {
  const unsigned = { format: APPROVAL_FORMAT, plan, key: key.publicKey.text, at } as const;
  return { ...unsigned, signature: signBytes(key, messageOf(unsigned)).toString('base64') };
}

/** An approval as it came from a file or the store; undefined for what has not its form. */
export function parseApproval(found: unknown): Approval | undefined {
  const parsed = approvalSchema.safeParse(found);
  return parsed.success ? parsed.data : undefined;
}

/** The fingerprint of the key that signed; undefined when the signature does not hold for exactly what the approval says. */
export function signerOf(approval: Approval): string | undefined {
  const { signature, ...unsigned } = approval;
  const parsed = parsePublicKey(approval.key);
  const bytes = strictBase64(signature);
  if (!parsed.ok || bytes === undefined) return undefined;
  return isSignedBy(parsed.key, messageOf(unsigned), bytes) ? parsed.key.fingerprint : undefined;
}

function messageOf(unsigned: Omit<Approval, 'signature'>): Buffer {
  return Buffer.from(canonicalText(unsigned));
}

/** The text of a file of approvals. */
export function approvalsText(approvals: readonly Plain[]): string {
  return `${JSON.stringify({ format: APPROVALS_FORMAT, approvals }, undefined, 2)}\n`;
}

/** What stands in a file of approvals. Whether each of them counts is judged later, so that one that was altered is named. */
export function parseApprovalsFile(bytes: Uint8Array, name: string): Outcome<readonly Plain[]> {
  try {
    const parsed = fileSchema.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    if (parsed.success) return succeed(parsed.data.approvals as readonly Plain[]);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return fail(noApprovals(name));
}

function noApprovals(name: string): Diagnostic {
  return {
    severity: 'error',
    code: 'APPROVALS_UNREADABLE',
    summary: 'The file holds no approvals',
    detail: `${name} is no file of approvals as accede approve writes it. Nothing was changed.`,
    expected: `format: ${APPROVALS_FORMAT}`,
  };
}

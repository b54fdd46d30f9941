import { createHash, createPrivateKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

const DAY = 24 * 3600 * 1000;
/** Clocks of clients may be behind. */
const BACKDATED = 3600 * 1000;
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
/** The most characters that a common name may have. */
const LONGEST_COMMON_NAME = 64;

/** A certificate and its key, both in PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/** Makes a key (ECDSA on P-256) and a certificate that it signs itself, for TLS servers and clients of these names. */
export async function makeCertificate(
  wanted: { readonly names: readonly string[]; readonly days: number; readonly serial: Uint8Array },
  now: number,
): Promise<CertificatePair> {
  // Slow to load, and needed only here.
  const [{ AsnConvert, OctetString }, x509] = await Promise.all([import('@peculiar/asn1-schema'), import('@peculiar/asn1-x509')]);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [first = ''] = wanted.names;
  const commonName = first.length > LONGEST_COMMON_NAME ? 'accede' : first;
  const subject = new x509.Name([
    new x509.RelativeDistinguishedName([
      new x509.AttributeTypeAndValue({ type: COMMON_NAME, value: new x509.AttributeValue({ utf8String: commonName }) }),
    ]),
  ]);
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const extension = (extnID: string, value: unknown, critical = false) =>
    new x509.Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
  const alternatives = wanted.names.map((name) => new x509.GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name }));
  const notBefore = Math.floor((now - BACKDATED) / 1000) * 1000;
  const body = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: positive(wanted.serial).buffer,
    signature: algorithm,
    issuer: subject,
    subject,
    validity: new x509.Validity({ notBefore: new Date(notBefore), notAfter: new Date(notBefore + wanted.days * DAY) }),
    subjectPublicKeyInfo: AsnConvert.parse(publicKey.export({ format: 'der', type: 'spki' }), x509.SubjectPublicKeyInfo),
    extensions: new x509.Extensions([
      extension(x509.id_ce_subjectAltName, new x509.SubjectAlternativeName(alternatives)),
      extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({ cA: false }), true),
      extension(x509.id_ce_keyUsage, new x509.KeyUsage(x509.KeyUsageFlags.digitalSignature), true),
      extension(x509.id_ce_extKeyUsage, new x509.ExtendedKeyUsage([x509.id_kp_serverAuth, x509.id_kp_clientAuth])),
    ]),
  });
  const signatureValue = Uint8Array.from(sign('sha256', Buffer.from(AsnConvert.serialize(body)), privateKey)).buffer;
  const whole = new x509.Certificate({ tbsCertificate: body, signatureAlgorithm: algorithm, signatureValue });
  return {
    certificate: new X509Certificate(Buffer.from(AsnConvert.serialize(whole))).toString(),
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

/** Bytes as a positive number without leading zeroes. */
function positive(serial: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(serial);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

/** A serial number as `readCertificate` tells it. */
export function serialText(serial: Uint8Array): string {
  return Buffer.from(positive(serial)).toString('hex');
}

/** What stands in a certificate. */
export interface CertificateFacts {
  readonly names: readonly string[];
  readonly days: number;
  /** ISO 8601, UTC. */
  readonly notAfter: string;
  /** Of the certificate in DER. */
  readonly digest: string;
  /** In hexadecimal. */
  readonly serial: string;
}

/** Undefined for what is no certificate. */
export function readCertificate(pem: string): CertificateFacts | undefined {
  const parsed = parse(() => new X509Certificate(pem));
  if (parsed === undefined) return undefined;
  const [from, to] = [Date.parse(parsed.validFrom), Date.parse(parsed.validTo)];
  return {
    names: namesIn(parsed.subjectAltName ?? ''),
    days: Math.round((to - from) / DAY),
    notAfter: new Date(to).toISOString(),
    digest: `sha256:${createHash('sha256').update(parsed.raw).digest('hex')}`,
    serial: parsed.serialNumber.toLowerCase(),
  };
}

/** Whether the key is that of the certificate. */
export function belongTogether({ certificate, key }: CertificatePair): boolean {
  return parse(() => new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) === true;
}

/** The one spelling of a name: lower case, IPv6 as short as it can be written. */
export function plainName(name: string): string {
  if (isIP(name) !== 6) return name.toLowerCase();
  return new URL(`http://[${name}]`).hostname.slice(1, -1);
}

function namesIn(alternatives: string): readonly string[] {
  return alternatives.split(', ').flatMap((entry) => {
    const name = /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1];
    return name === undefined ? [] : [plainName(name)];
  });
}

/** What OpenSSL cannot read is a system error of its own; anything else is a bug. */
function parse<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of a small private authority and of what it vouches for: a server at 127.0.0.1 or localhost, and a client. */
export interface Certificates {
  readonly ca: string;
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

/** Makes certificates in `folder`, which must exist. They hold for a day. */
export function makeCertificates(folder: string): Certificates {
  const ca = { cert: join(folder, 'ca.pem'), key: join(folder, 'ca-key.pem') };
  openssl(['req', '-x509', ...newKey(ca.key), '-days', '1', '-subj', '/CN=test authority', '-out', ca.cert]);
  const issue = (name: string, extensions: string) => {
    const made = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}-key.pem`) };
    const request = join(folder, `${name}.csr`);
    const settings = join(folder, `${name}.cnf`);
    writeFileSync(settings, `${extensions}\n`);
    openssl(['req', ...newKey(made.key), '-subj', `/CN=test ${name}`, '-out', request]);
    const signer = ['-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial'];
    openssl(['x509', '-req', '-in', request, ...signer, '-days', '1', '-extfile', settings, '-out', made.cert]);
    return made;
  };
  return {
    ca: ca.cert,
    server: issue('server', 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth'),
    client: issue('client', 'extendedKeyUsage=clientAuth'),
  };
}

function newKey(path: string): readonly string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', path];
}

function openssl(args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`openssl ${args[0] ?? ''}: ${stderr}`);
}

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/**
 * Matches the error codes of TLS in Node.js: `ERR_TLS_…`, `ERR_SSL_…`, and the X.509 codes, such
 * as `CERT_HAS_EXPIRED` and `UNABLE_TO_VERIFY_LEAF_SIGNATURE` (Node.js manual, TLS, X509
 * certificate error codes).
 */
const TLS_ERROR_CODE =
  /^ERR_(?:TLS|SSL)_|CERT|CRL|SIGNATURE|ISSUER|^(?:INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/

/** A certificate chain and its private key, both in PEM format. */
export interface TlsIdentity {
  cert: string
  key: string
}

/**
 * Reads a certificate and its key. Returns undefined if neither is configured. Throws an `Error` if
 * the pair is invalid.
 */
export function readTlsIdentity(
  certFile: string | undefined,
  keyFile: string | undefined,
): TlsIdentity | undefined {
  if (!certFile && !keyFile) return undefined
  if (!certFile || !keyFile) {
    throw new Error('EYRIE_TLS_CERT and EYRIE_TLS_KEY go together: set both or none')
  }
  const identity = {
    cert: readPem('EYRIE_TLS_CERT', certFile),
    key: readPem('EYRIE_TLS_KEY', keyFile),
  }
  if (!isMatchingPair(identity)) {
    throw new Error(`${keyFile} is not the key of the certificate ${certFile}`)
  }
  return identity
}

/**
 * Makes this process trust a certificate, in addition to those of public authorities. The
 * services can then connect to each other with a self-signed certificate, which must contain the
 * host names of their URLs.
 */
export function trustCertificate(cert: string): void {
  setDefaultCACertificates([...getCACertificates('default'), cert])
}

/**
 * Returns whether TLS has rejected the other side, usually its certificate. Node.js sets the code
 * on one of the causes.
 */
export function isTlsError(error: unknown): boolean {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const { code } = current as NodeJS.ErrnoException
    if (code !== undefined && TLS_ERROR_CODE.test(code)) return true
  }
  return false
}

function readPem(variable: string, file: string): string {
  if (!existsSync(file)) throw new Error(`${variable}: the file ${file} does not exist`)
  return readFileSync(file, 'utf8')
}

function isMatchingPair({ cert, key }: TlsIdentity): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/** A certificate chain and its private key, in PEM. */
export interface TlsIdentity {
  cert: string
  key: string
}

/** Reads a certificate and its key. Undefined if neither is configured. Throws an `Error` if they are not valid. */
export function readTlsIdentity(
  certFile: string | undefined,
  keyFile: string | undefined,
): TlsIdentity | undefined {
  if (!certFile && !keyFile) return undefined
  if (!certFile || !keyFile) throw new Error('EYRIE_TLS_CERT and EYRIE_TLS_KEY go together: set both or none')
  const identity = { cert: readPem('EYRIE_TLS_CERT', certFile), key: readPem('EYRIE_TLS_KEY', keyFile) }
  if (!isPair(identity)) throw new Error(`${keyFile} is not the key of the certificate ${certFile}`)
  return identity
}

/**
 * Adds a certificate to the trusted ones of this process, so that the services of a machine can use a self-signed
 * certificate among each other. It still has to contain the host names of their URLs.
 */
export function trustCertificate({ cert }: TlsIdentity): void {
  setDefaultCACertificates([...getCACertificates('default'), cert])
}

function readPem(variable: string, file: string): string {
  if (!existsSync(file)) throw new Error(`${variable}: the file ${file} does not exist`)
  return readFileSync(file, 'utf8')
}

function isPair({ cert, key }: TlsIdentity): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

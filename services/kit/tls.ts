import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/** A certificate, with those that lead to its root, and its private key; PEM. */
export interface TlsIdentity {
  cert: string
  key: string
}

/** None where neither file is named. Throws an Error that says what is wrong with the files. */
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
 * Lets this process trust the certificate that the services of one machine share, so that they reach each other with
 * one that no authority has signed. It has to name the hosts in their URLs all the same.
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

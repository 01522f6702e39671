import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { importPKCS8, importSPKI } from 'jose'
import { secretFile } from '../secrets/secret-file.ts'
import type { SigningKeys } from './access-tokens.ts'

/** The keys that sign access tokens, made on first use: a file in PEM that its owner alone reads. */
export async function readSigningKeys(file: string): Promise<SigningKeys> {
  const secret = createPrivateKey(secretFile(file, newKey))
  const pkcs8 = secret.export({ type: 'pkcs8', format: 'pem' }) as string
  const spki = createPublicKey(secret).export({ type: 'spki', format: 'pem' }) as string
  return { privateKey: await importPKCS8(pkcs8, 'EdDSA'), publicKey: await importSPKI(spki, 'EdDSA') }
}

const newKey = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

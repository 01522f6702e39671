import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { importPKCS8, importSPKI } from 'jose'
import type { SigningKeys } from './access-token.ts'

/** The keys that sign access tokens, made on first use: a file in PEM that its owner alone reads. */
export async function readSigningKeys(file: string): Promise<SigningKeys> {
  if (!existsSync(file)) makeKey(file)
  const secret = createPrivateKey(readFileSync(file))
  const pkcs8 = secret.export({ type: 'pkcs8', format: 'pem' }) as string
  const spki = createPublicKey(secret).export({ type: 'spki', format: 'pem' }) as string
  return { privateKey: await importPKCS8(pkcs8, 'EdDSA'), publicKey: await importSPKI(spki, 'EdDSA') }
}

function makeKey(file: string) {
  const { privateKey } = generateKeyPairSync('ed25519')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
}

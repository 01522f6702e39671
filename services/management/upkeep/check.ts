import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ISql } from 'postgres'
import type { ConnectionTarget } from '../db/connection.ts'
import { connectUnprivileged } from '../db/role.ts'
import { withSnapshot } from '../db/transaction.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import { ignoreMissing } from './data-files.ts'
import { INVARIANTS } from './invariants.ts'

/** An encrypted secret inside another text, such as the JSON of a setting. */
const ENCRYPTED_SECRET = /sealed\d+:[\w-]+/g

/** An inconsistency. `eyrie check` prints its fields. */
export interface Finding {
  /** The violated rule as a sentence. */
  says: string
  /** The record or file that violates the rule. */
  what: string
  remedy: string
}

/**
 * Implements `eyrie check`: returns all inconsistencies of the database and of the files that
 * belong to its records. Changes nothing.
 */
export async function check(target: ConnectionTarget, dataFolder: string): Promise<Finding[]> {
  const sql = await connectUnprivileged(target)
  try {
    return await withSnapshot(sql, async () => [
      ...(await checkInvariants(sql)),
      ...(await checkImages(sql, dataFolder)),
      ...(await checkSecrets(sql, dataFolder)),
    ])
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Checks the rules about database contents. */
async function checkInvariants(sql: ISql): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { rule, query, remedy } of INVARIANTS) {
    const violations = await sql.unsafe<{ what: string }[]>(query)
    findings.push(...violations.map(({ what }) => ({ says: rule, what, remedy })))
  }
  return findings
}

interface ImageRecord {
  /** File name in the folder of the images. */
  path: string
  sha256: string
}

/** Compares the uploaded images with their records in the database. */
async function checkImages(sql: ISql, dataFolder: string): Promise<Finding[]> {
  const folder = join(dataFolder, 'management/images')
  const images = await sql<ImageRecord[]>`select path, sha256 from image`
  return [...(await findUnusedImages(folder, images)), ...(await findDamagedImages(folder, images))]
}

async function findUnusedImages(
  folder: string,
  images: readonly ImageRecord[],
): Promise<Finding[]> {
  const files = (await readdir(folder).catch(ignoreMissing)) ?? []
  const recordedFiles = new Set(images.map(({ path }) => path))
  const unusedFiles = files.filter(file => !recordedFiles.has(file))

  return unusedFiles.map(file => ({
    says: 'every image file belongs to a record',
    what: join(folder, file),
    remedy: 'delete it: it is not used',
  }))
}

async function findDamagedImages(
  folder: string,
  images: readonly ImageRecord[],
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { path, sha256 } of images) {
    const file = join(folder, path)
    const bytes = await readFile(file).catch(ignoreMissing)
    const isUnchanged = bytes && createHash('sha256').update(bytes).digest('hex') === sha256
    if (isUnchanged) continue

    findings.push({
      says: 'the file of every image is unchanged since its upload',
      what: bytes ? `${file} has changed` : `${file} is missing`,
      remedy: 'upload it again, or restore it from a backup',
    })
  }
  return findings
}

/** Selects all texts that contain encrypted secrets, with a description of their record. */
const SELECT_SECRETS = `
  select 'engine ' || engine_name as what, engine_key as text
  from engine
  union all
  select
    format('stream %s of device %s', device_stream.id, device.device_name),
    concat_ws(' ', device_stream.password, device_stream.address)
  from device_stream
  join device using (device_id)
  union all
  select 'source ' || source_name, source_address
  from source
  union all
  select format('configuration of engine %s', engine_name), applied
  from provision
  join engine using (engine_id)
  union all
  select 'setting ' || name, value::text
  from setting`

/** Tries to decrypt all secrets with the key file of the installation. */
async function checkSecrets(sql: ISql, dataFolder: string): Promise<Finding[]> {
  const rows = await sql.unsafe<{ what: string; text: string }[]>(SELECT_SECRETS)
  const keyFile = join(dataFolder, 'secrets/management-key')
  // `loadSecrets` would create a key if it were missing.
  const secrets = existsSync(keyFile) ? loadSecrets(dataFolder) : undefined

  function canDecrypt(encrypted: string): boolean {
    try {
      return secrets?.decrypt(encrypted) !== undefined
    } catch {
      return false
    }
  }

  const unreadableRows = rows.filter(({ text }) => {
    const encryptedSecrets = text.match(ENCRYPTED_SECRET) ?? []
    return !encryptedSecrets.every(canDecrypt)
  })

  return unreadableRows.map(({ what }) => ({
    says: 'every secret can be decrypted with the key of this installation',
    what,
    remedy: `restore ${keyFile}, or set the secret again`,
  }))
}

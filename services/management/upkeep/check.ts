import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ISql } from 'postgres'
import type { ConnectionTarget } from '../db/connection.ts'
import { connect } from '../db/connection.ts'
import { chooseRole } from '../db/role.ts'
import { withSnapshot } from '../db/transaction.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import { ignoreMissing } from './data-files.ts'
import { invariants } from './invariants.ts'

export interface Finding {
  /** The violated rule. */
  says: string
  /** The record or file that violates it. */
  what: string
  remedy: string
}

/** Checks the database and the files that belong to it, and returns all inconsistencies. Changes nothing. */
export async function check(target: ConnectionTarget, data: string): Promise<Finding[]> {
  const role = await chooseRole(target)
  const sql = connect(target, role ? { role } : {})
  try {
    return await withSnapshot(sql, async () => {
      const findings: Finding[] = []
      for (const { rule, query, remedy } of invariants) {
        const rows = await sql.unsafe<{ what: string }[]>(query)
        findings.push(...rows.map(({ what }) => ({ says: rule, what, remedy })))
      }
      return [...findings, ...(await checkImages(sql, data)), ...(await checkSecrets(sql, data))]
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function checkImages(sql: ISql, data: string): Promise<Finding[]> {
  const folder = join(data, 'management/images')
  const rows = await sql<{ path: string; sha256: string }[]>`select path, sha256 from image`
  const files = (await readdir(folder).catch(ignoreMissing)) ?? []
  const known = new Set(rows.map(({ path }) => path))
  const findings = files
    .filter(file => !known.has(file))
    .map(file => ({
      says: 'every image file belongs to a record',
      what: join(folder, file),
      remedy: 'delete it: it is not used',
    }))
  for (const { path, sha256 } of rows) {
    const bytes = await readFile(join(folder, path)).catch(ignoreMissing)
    if (bytes && createHash('sha256').update(bytes).digest('hex') === sha256) continue
    findings.push({
      says: 'the file of every image is unchanged since its upload',
      what: `${join(folder, path)} ${bytes ? 'has changed' : 'is missing'}`,
      remedy: 'upload it again, or restore it from a backup',
    })
  }
  return findings
}

/** Selects all columns that contain sealed texts. */
const sealedColumns = `
  select 'engine ' || engine_name as what, engine_key as text from engine
  union all select format('stream %s of device %s', s.id, d.device_name), s.password
    from device_stream s join device d using (device_id)
  union all select format('configuration of engine %s', engine_name), applied
    from provision join engine using (engine_id)
  union all select 'setting ' || name, value::text from setting`

async function checkSecrets(sql: ISql, data: string): Promise<Finding[]> {
  const rows = await sql.unsafe<{ what: string; text: string }[]>(sealedColumns)
  // Loading the secrets would create a missing key.
  const file = join(data, 'secrets/management-key')
  const open = existsSync(file) ? loadSecrets(data).open : failWithoutKey
  return rows
    .filter(({ text }) => (text.match(/sealed\d+:[\w-]+/g) ?? []).some(secret => !canOpen(open, secret)))
    .map(({ what }) => ({
      says: 'every secret can be decrypted with the key of this installation',
      what,
      remedy: `restore ${file}, or set the secret again`,
    }))
}

function failWithoutKey(): never {
  throw new Error('the key does not exist')
}

function canOpen(open: (sealed: string) => string, text: string): boolean {
  try {
    open(text)
    return true
  } catch {
    return false
  }
}

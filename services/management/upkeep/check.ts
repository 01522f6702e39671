import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ISql } from 'postgres'
import type { ConnectionTarget } from '../db/connection.ts'
import { connect } from '../db/connection.ts'
import { chooseRole } from '../db/role.ts'
import { withSnapshot } from '../db/transaction.ts'
import { readSecrets } from '../secrets/secrets.ts'
import { ignoreAbsence } from './data-files.ts'
import { invariants } from './invariants.ts'

export interface Finding {
  /** What should be so. */
  says: string
  /** Where it is not. */
  what: string
  remedy: string
}

/** Looks for whatever is not as it should be, in the database and in the files that belong to it; changes nothing. */
export async function check(target: ConnectionTarget, data: string): Promise<Finding[]> {
  const role = await chooseRole(target)
  const sql = connect(target, role ? { role } : {})
  try {
    return await withSnapshot(sql, async () => {
      const findings: Finding[] = []
      for (const { says, query, remedy } of invariants) {
        const rows = await sql.unsafe<{ what: string }[]>(query)
        findings.push(...rows.map(({ what }) => ({ says, what, remedy })))
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
  const files = (await readdir(folder).catch(ignoreAbsence)) ?? []
  const known = new Set(rows.map(({ path }) => path))
  const findings = files
    .filter(file => !known.has(file))
    .map(file => ({
      says: 'every image on the disk belongs to a record',
      what: join(folder, file),
      remedy: 'remove it: nobody is shown it',
    }))
  for (const { path, sha256 } of rows) {
    const bytes = await readFile(join(folder, path)).catch(ignoreAbsence)
    if (bytes && createHash('sha256').update(bytes).digest('hex') === sha256) continue
    findings.push({
      says: 'the file of every image is as it was uploaded',
      what: `${join(folder, path)} ${bytes ? 'has changed' : 'is missing'}`,
      remedy: 'upload it again, or restore it from a backup',
    })
  }
  return findings
}

/** Where sealed texts stand, in whatever way. */
const sealed = `
  select 'engine ' || engine_name as what, engine_key as text from engine
  union all select format('stream %s of device %s', s.id, d.device_name), s.password
    from device_stream s join device d using (device_id)
  union all select format('what was made on engine %s', engine_name), applied
    from provision join engine using (engine_id)
  union all select 'setting ' || name, value::text from setting`

async function checkSecrets(sql: ISql, data: string): Promise<Finding[]> {
  const rows = await sql.unsafe<{ what: string; text: string }[]>(sealed)
  // A key that is not there would be made.
  const file = join(data, 'secrets/management-key')
  const open = existsSync(file) ? readSecrets(data).open : refuse
  return rows
    .filter(({ text }) => (text.match(/sealed\d+:[\w-]+/g) ?? []).some(each => !opens(open, each)))
    .map(({ what }) => ({
      says: 'every secret opens with the key of this installation',
      what,
      remedy: `restore ${file}, or set the secret anew`,
    }))
}

function refuse(): never {
  throw new Error('there is no key')
}

function opens(open: (sealed: string) => string, text: string): boolean {
  try {
    open(text)
    return true
  } catch {
    return false
  }
}

import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import {
  createLog,
  type Dependencies,
  extractSecrets,
  lockFolder,
  readEnvironment,
} from '@eyrie/kit'
import { describeDatabaseError } from '../db/database-errors.ts'
import { findOutdatedPackages } from '../packages/outdated-packages.ts'
import { backUp } from './backup.ts'
import { check, type Finding } from './check.ts'
import { type DatabaseAccess, openDatabaseAccess, openExclusiveAccess } from './database-access.ts'
import { restore } from './restore.ts'

// The program behind `eyrie backup`, `eyrie restore` and `eyrie check`. It is part of the
// management service, which owns the database. It reads the passphrase of the backup from stdin,
// where no other process can see it. It prints the result as JSON to stdout, or the reason of a
// failure as one line to stderr.

/** Runs the command in the arguments. Returns its result. */
async function runCommand(args: string[], dependencies: Dependencies): Promise<unknown> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { force: { type: 'boolean', default: false } },
  })
  const [command, file] = positionals

  switch (command) {
    case 'backup':
      return runBackup(dependencies, toArchivePath(file))
    case 'check':
      return runCheck(dependencies)
    case 'restore':
      return runRestore(dependencies, toArchivePath(file), values.force)
    default:
      throw new Error(`unknown command ${command}: use backup, restore or check`)
  }
}

function toArchivePath(file: string | undefined): string {
  if (file === undefined) throw new Error('the path of the archive is missing')
  return resolve(file)
}

async function runBackup(dependencies: Dependencies, archivePath: string) {
  const passphrase = await readPassphrase()
  if (passphrase === undefined) throw new Error('the passphrase of the backup is missing on stdin')
  const { data } = dependencies.environment
  return withDatabase(dependencies, ({ target }) => backUp(target, data, archivePath, passphrase))
}

/** Reads the passphrase from stdin. Returns undefined if stdin is empty. */
const readPassphrase = async () => (await text(process.stdin)) || undefined

/** Runs work with the database of the installation, which may be in use. */
async function withDatabase<T>(
  dependencies: Dependencies,
  work: (database: DatabaseAccess) => Promise<T>,
): Promise<T> {
  const database = await openDatabaseAccess(dependencies)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

async function runCheck(dependencies: Dependencies): Promise<Finding[]> {
  const { data } = dependencies.environment
  const findings = await withDatabase(dependencies, ({ target }) => check(target, data))
  return [...findings, ...(await checkPackages())]
}

/** Checks the packages of the machine that parse video. */
async function checkPackages(): Promise<Finding[]> {
  const packages = await findOutdatedPackages()
  return packages.map(({ name, installed, candidate }) => ({
    says: 'packages that parse video are as new as those in the archive of the machine',
    what: `${name} ${installed} is older than ${candidate}`,
    remedy: 'make run as root upgrades it, or apt-get install --only-upgrade',
  }))
}

async function runRestore(dependencies: Dependencies, archivePath: string, force: boolean) {
  const { data } = dependencies.environment
  const passphrase = await readPassphrase()
  // The engine must not run while its files are replaced.
  const unlock = await lockFolder(resolve(data, 'engine'))
  let database: DatabaseAccess | undefined
  const openDatabase = async () => {
    database = await openExclusiveAccess(dependencies)
    return database.target
  }

  try {
    return await restore({ openDatabase, data, archivePath, passphrase, force })
  } finally {
    await database?.close()
    unlock()
  }
}

try {
  const secrets = extractSecrets(process.env)
  const environment = readEnvironment({ ...process.env, ...secrets })
  const log = createLog('management', 'silent')
  const report = await runCommand(process.argv.slice(2), { environment, log }).catch(cause => {
    throw new Error(describeDatabaseError(cause, environment.databaseUrl), { cause })
  })
  process.stdout.write(`${JSON.stringify(report)}\n`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}

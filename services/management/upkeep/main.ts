import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createLog, type Dependencies, lockFolder, readEnvironment } from '@eyrie/kit'
import { describeDatabaseError } from '../db/database-errors.ts'
import { backUp } from './backup.ts'
import { check } from './check.ts'
import { connectToInstallation, type DatabaseAccess, startExclusively } from './database-access.ts'
import { restore } from './restore.ts'

// Entry point of `eyrie backup`, `eyrie restore` and `eyrie check`, which run here because only management accesses the
// database. It prints the result as one JSON value, or the reason of a failure on one line.

async function run(args: string[], dependencies: Dependencies): Promise<unknown> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { force: { type: 'boolean', default: false } },
  })
  const [command, file = ''] = positionals
  const { data } = dependencies.environment
  const path = resolve(file)
  switch (command) {
    case 'backup':
      return withDatabase(dependencies, ({ target }) => backUp(target, data, path))
    case 'check':
      return withDatabase(dependencies, ({ target }) => check(target, data))
    case 'restore':
      return runRestore(dependencies, path, values.force)
    default:
      throw new Error(`unknown command ${command}: use backup, restore or check`)
  }
}

async function withDatabase<T>(
  dependencies: Dependencies,
  work: (database: DatabaseAccess) => Promise<T>,
): Promise<T> {
  const database = await connectToInstallation(dependencies)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

async function runRestore(dependencies: Dependencies, path: string, force: boolean) {
  const { data } = dependencies.environment
  // The engine must not read files while they are replaced.
  const release = await lockFolder(resolve(data, 'engine'))
  let database: DatabaseAccess | undefined
  async function target() {
    database = await startExclusively(dependencies)
    return database.target
  }
  try {
    return await restore({ target, data, path, force })
  } finally {
    await database?.close()
    release()
  }
}

try {
  const environment = readEnvironment(process.env)
  const result = await run(process.argv.slice(2), {
    environment,
    log: createLog('management', 'silent'),
  }).catch(cause => {
    throw new Error(describeDatabaseError(cause, environment.databaseUrl), { cause })
  })
  process.stdout.write(`${JSON.stringify(result)}\n`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}

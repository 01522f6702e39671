import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createLog, type Dependencies, lockFolder, readEnvironment } from '@eyrie/kit'
import { describeDatabaseError } from '../db/database-errors.ts'
import { backUp } from './backup.ts'
import { check } from './check.ts'
import { type Reached, reachDatabase, startAlone } from './reach.ts'
import { restore } from './restore.ts'

// What `eyrie backup`, `eyrie restore` and `eyrie check` run: management's own work, since nobody else speaks SQL. It
// prints one JSON value, or a line of what is wrong.

async function reached<T>(reach: Promise<Reached>, work: (reached: Reached) => Promise<T>): Promise<T> {
  const found = await reach
  try {
    return await work(found)
  } finally {
    await found.close()
  }
}

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
      return reached(reachDatabase(dependencies), ({ target }) => backUp(target, data, path))
    case 'check':
      return reached(reachDatabase(dependencies), ({ target }) => check(target, data))
    case 'restore': {
      // Nobody may read what is being replaced.
      const release = await lockFolder(resolve(data, 'engine'))
      let found: Reached | undefined
      const target = async () => {
        found = await startAlone(dependencies)
        return found.target
      }
      try {
        return await restore({ target, data, path, force: values.force })
      } finally {
        await found?.close()
        release()
      }
    }
    default:
      throw new Error(`there is no ${command}: backup, restore, check`)
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

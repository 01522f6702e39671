import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Terminal } from '../terminal.ts'
import { secretsIn } from './scrub.ts'

const telling = /TOKEN|PASSWORD|SECRET/

/** Every secret that this appliance is known to have: its own, those of the environment, and those of its cameras. */
export async function knownSecrets({ data, environment = {} }: Terminal): Promise<string[]> {
  const folder = join(data, 'secrets')
  const own = (await readdir(folder).catch(() => [])).map(name => join(folder, name))
  const variables = Object.entries(environment).filter(([name]) => telling.test(name))
  const [files, values] = [
    variables.filter(([name]) => name.endsWith('_FILE')),
    variables.filter(([name]) => !name.endsWith('_FILE')),
  ].map(group => group.flatMap(([, value]) => value ?? []))
  const contents = await Promise.all([...own, ...files!].map(readIfThere))
  const cameras = secretsIn(await readIfThere(join(data, 'engine/configuration.json')))
  return [...[...contents, ...values!].flatMap(text => text.split(/[\s,]+/)), ...cameras]
}

const readIfThere = (file: string) => readFile(file, 'utf8').catch(() => '')

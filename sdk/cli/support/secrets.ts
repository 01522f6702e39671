import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Terminal } from '../terminal.ts'
import { secretsIn } from './scrub.ts'

const telling = /TOKEN|PASSWORD|SECRET/

/** Every secret that this appliance is known to have: its own, those of the environment, and those of its cameras. */
export async function knownSecrets({ data, environment = {} }: Terminal): Promise<string[]> {
  const folder = join(data, 'secrets')
  const names = await readdir(folder).catch(() => [])
  const variables = Object.entries(environment).filter(([name]) => telling.test(name))
  const texts = await Promise.all([
    ...names.map(name => readIfThere(join(folder, name))),
    ...variables.map(([name, value = '']) => (name.endsWith('_FILE') ? readIfThere(value) : value)),
  ])
  const cameras = secretsIn(await readIfThere(join(data, 'engine/configuration.json')))
  return [...texts.flatMap(text => text.split(/[\s,]+/)), ...cameras]
}

const readIfThere = (file: string) => readFile(file, 'utf8').catch(() => '')

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { removeFolder } from './add.ts'
import { checkName } from './name.ts'
import { openQuarantine } from './quarantine.ts'
import { readModel } from './read.ts'

/** Removes a model that was added to `root`, also a broken one. Throws if there is none of that name. */
export async function removeModel(root: string, name: string): Promise<void> {
  checkName(name)
  const folder = join(root, name)
  await stat(folder).catch(() => {
    throw new Error(`no model ${name} was added under ${root}; those that come with Eyrie stay`)
  })
  const model = await readModel(folder).catch(() => undefined)
  await removeFolder(root, name)
  if (model) openQuarantine(root).lift(model.card.sha256)
}

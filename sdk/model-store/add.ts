import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { checkName } from './name.ts'
import type { ModelFacts, PreparedModel } from './prepare.ts'
import { openQuarantine } from './quarantine.ts'
import type { StoredModel } from './read.ts'

export interface AddModel extends ModelFacts {
  name: string
  /** The ONNX file as it was exported. */
  model: Uint8Array
}

/**
 * Checks a model, prepares it and writes it to `root`, in place of one with the same name. It appears whole or not at
 * all. Throws an Error that says what is wrong with the model.
 */
export async function addModel(root: string, { name, model, ...facts }: AddModel): Promise<StoredModel> {
  checkName(name)
  // ONNX Runtime is large, and most who read the store never add to it.
  const { prepareModel } = await import('./prepare.ts')
  const prepared = await prepareModel(name, model, facts)

  const folder = await writeModel(root, prepared)
  openQuarantine(root).lift(prepared.card.sha256)
  return { card: prepared.card, folder, file: join(folder, 'model.onnx') }
}

async function writeModel(root: string, { card, bytes }: PreparedModel): Promise<string> {
  const folder = join(root, card.name)
  const draft = join(root, `.new-${card.name}`)
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { recursive: true })
  try {
    await writeSynced(join(draft, 'model.onnx'), bytes)
    await writeSynced(join(draft, 'model.json'), `${JSON.stringify(card, null, 2)}\n`)
    await removeFolder(root, card.name)
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
  return folder
}

/** Takes a folder away at once, also for those who are reading it, and then deletes it. */
export async function removeFolder(root: string, name: string): Promise<void> {
  const old = join(root, `.old-${name}`)
  await rm(old, { recursive: true, force: true })
  await rename(join(root, name), old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  await rm(old, { recursive: true, force: true })
}

async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

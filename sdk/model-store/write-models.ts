import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { modelCard } from '@eyrie/contract/model'
import { createDraft, putInPlace, removeFolder } from './model-folders.ts'
import type { ModelFacts, PreparedModel } from './prepare-model.ts'
import { openQuarantine } from './quarantine.ts'
import { readModel, type StoredModel } from './read-models.ts'

/** A model to add to the store. */
export interface NewModel extends ModelFacts {
  name: string
  /** The exported ONNX file. */
  model: Uint8Array
}

/**
 * Adds a model to the folder `root` and replaces a model with the same name. Readers see
 * either the old or the new model, or for a moment none. If it cannot be replaced, the old one
 * remains; after a crash of this process, once the store is opened again. Throws an `Error` with
 * the reason if the model is not valid.
 */
export async function addModel(
  root: string,
  { name, model, ...facts }: NewModel,
): Promise<StoredModel> {
  assertModelName(name)
  // Imported on demand, because it loads ONNX Runtime, which readers of the store do not need.
  const { prepareModel } = await import('./prepare-model.ts')
  const prepared = await prepareModel(name, model, facts)

  const folder = await writeModel(root, prepared)
  openQuarantine(root).clear(prepared.card.sha256)
  return { card: prepared.card, folder, file: join(folder, 'model.onnx') }
}

/**
 * Removes a model from `root`, even if the model is broken. Throws an `Error` if it does not exist.
 */
export async function removeModel(root: string, name: string): Promise<void> {
  assertModelName(name)
  const folder = join(root, name)
  await stat(folder).catch(() => {
    throw new Error(
      `there is no model ${name} in ${root}; models that ship with Eyrie cannot be removed`,
    )
  })
  // Without its card, the crash record of a broken model cannot be found.
  const model = await readModel(folder).catch(() => undefined)
  await removeFolder(root, name)
  if (model) openQuarantine(root).clear(model.card.sha256)
}

/** Throws an `Error` unless the name is valid as a folder of the store. */
function assertModelName(name: string): void {
  if (!modelCard.shape.name.safeParse(name).success) {
    throw new Error(
      `${JSON.stringify(name)} is not a valid model name: use a-z, 0-9, ".", "_" and "-", beginning with a letter or digit`,
    )
  }
}

async function writeModel(root: string, { card, bytes }: PreparedModel): Promise<string> {
  const folder = join(root, card.name)
  const draft = await createDraft(root, card.name)
  try {
    await writeSynced(join(draft, 'model.onnx'), bytes)
    await writeSynced(join(draft, 'model.json'), `${JSON.stringify(card, null, 2)}\n`)
    await putInPlace(root, card.name, draft)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
  return folder
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

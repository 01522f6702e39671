import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type ModelCard, modelCard } from '@eyrie/contract/model'
import { parseAs } from '@eyrie/contract/parse'

/** The folder of the models that ship with Eyrie, a second root of the store. */
export const SHIPPED_MODELS = resolve(import.meta.dirname, '../../models')

/** A model on disk: `<root>/<name>/{model.json, model.onnx}`. */
export interface StoredModel {
  card: ModelCard
  folder: string
  /** Path of the ONNX file. */
  file: string
}

/** A folder that should contain a model but is not valid, or a root that cannot be read. */
export interface BrokenModel {
  folder: string
  reason: string
}

export interface ModelScan {
  /** Models by name. If several roots contain the same name, the first root wins. */
  models: Map<string, StoredModel>
  broken: BrokenModel[]
}

/** Reads all models in the roots. Roots that do not exist are skipped. */
export async function scanModels(roots: readonly string[]): Promise<ModelScan> {
  const scan: ModelScan = { models: new Map(), broken: [] }
  for (const root of roots) {
    const addBroken = (folder: string) => (error: Error) =>
      void scan.broken.push({ folder, reason: error.message })
    const folders = await listModelFolders(root).catch(addBroken(root))
    for (const folder of folders ?? []) {
      const model = await readModel(folder).catch(addBroken(folder))
      if (model && !scan.models.has(model.card.name)) scan.models.set(model.card.name, model)
    }
  }
  return scan
}

/**
 * Reads the card of a model, but not the ONNX file. Throws an `Error` with the reason if the folder
 * is not a valid model.
 */
export async function readModel(folder: string): Promise<StoredModel> {
  const text = await readFile(join(folder, 'model.json'), 'utf8').catch(
    throwUnreadable('model.json'),
  )
  const card = parseCard(text)
  const file = join(folder, 'model.onnx')
  const { size } = await stat(file).catch(throwUnreadable('model.onnx'))
  if (size === 0) throw new Error('model.onnx is empty')
  return { card, folder, file }
}

/**
 * Lists the model folders of a root. Folders that begin with a dot, such as `.quarantine`,
 * have other purposes.
 */
async function listModelFolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(skipMissing)
  return entries
    .filter(entry => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(entry => join(root, entry.name))
    .sort()
}

function skipMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return []
  throw new Error(`the folder of models cannot be read: ${error.message}`, { cause: error })
}

function parseCard(text: string): ModelCard {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Error(`model.json is not JSON: ${(error as Error).message}`)
  }
  return parseAs(modelCard, json, 'model.json')
}

const throwUnreadable = (name: string) => (error: NodeJS.ErrnoException) => {
  throw new Error(
    error.code === 'ENOENT' ? `${name} is missing` : `failed to read ${name}: ${error.message}`,
  )
}

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelCard, modelCard } from '@eyrie/contract/model'
import { parseAs } from '@eyrie/contract/parse'

/** A model as it lies in a root folder of the store: `<root>/<name>/{model.json, model.onnx}`. */
export interface StoredModel {
  card: ModelCard
  folder: string
  /** The ONNX file. */
  file: string
}

/** A folder that should hold a model and does not; `reason` says what is wrong with it. */
export interface BrokenModel {
  folder: string
  reason: string
}

export interface Scan {
  /** By name. Where two roots hold the same name, the first root's model counts. */
  models: Map<string, StoredModel>
  broken: BrokenModel[]
}

/** Reads every model under the roots. A root that does not exist holds none. */
export async function scanModels(roots: readonly string[]): Promise<Scan> {
  const scan: Scan = { models: new Map(), broken: [] }
  for (const root of roots) {
    for (const folder of await modelFolders(root)) {
      try {
        const model = await readModel(folder)
        if (!scan.models.has(model.card.name)) scan.models.set(model.card.name, model)
      } catch (error) {
        scan.broken.push({ folder, reason: (error as Error).message })
      }
    }
  }
  return scan
}

/** Throws an Error that says what is wrong with the folder. The ONNX file itself is not opened. */
export async function readModel(folder: string): Promise<StoredModel> {
  const card = parseCard(await readFile(join(folder, 'model.json'), 'utf8').catch(missing('model.json')))
  const file = join(folder, 'model.onnx')
  const { size } = await stat(file).catch(missing('model.onnx'))
  if (size === 0) throw new Error('model.onnx is empty')
  return { card, folder, file }
}

/** Folders under a root that hold a `model.json`; those whose name begins with a dot are not models. */
async function modelFolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  return entries
    .filter(entry => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(entry => join(root, entry.name))
    .sort()
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

const missing = (name: string) => (error: NodeJS.ErrnoException) => {
  throw new Error(
    error.code === 'ENOENT' ? `there is no ${name}` : `${name} cannot be read: ${error.message}`,
  )
}

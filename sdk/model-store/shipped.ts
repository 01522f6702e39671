import { resolve } from 'node:path'

/** The folder of the models that come with Eyrie: a second root of the store. */
export const shippedModels = resolve(import.meta.dirname, '../../models')

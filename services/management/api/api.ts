import { EyrieError } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { limitBodySize } from '@eyrie/kit/body-limit'
import { Hono } from 'hono'
import { answerInEnvelope } from './errors.ts'
import { type MountOptions, mount } from './mount.ts'
import type { Operation } from './operation.ts'

const JSON_BYTES = 4 * 1024 * 1024
const FILE_BYTES = 16 * 1024 * 1024

export interface ApiOptions extends MountOptions {
  operations: Operation[]
  log: Log
}

/** The management API, to be mounted under `/api/v1`. */
export function createApi({ operations, log, ...options }: ApiOptions): Hono {
  const api = new Hono()
  api.onError(answerInEnvelope(log))
  for (const { route } of operations) api.post(route.path, limited(route.fileField ? FILE_BYTES : JSON_BYTES))
  mount(api, operations, options)
  return api
}

const limited = (most: number) =>
  limitBodySize(most, () => new EyrieError('size', `the body is larger than ${most / 1024 / 1024} MiB`))

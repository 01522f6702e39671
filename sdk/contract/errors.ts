import { z } from 'zod'

/** Every error that the engine's API can response: what it means and what the caller can do about it. */
export const errorTable = {
  syntax: { status: 400, meaning: 'The request is malformed', remedy: 'Correct what the reason names' },
  license: {
    status: 400,
    meaning: 'The license is not valid',
    remedy: 'Use a license that its pool file lists',
  },
  auth: { status: 401, meaning: 'No valid token was sent', remedy: 'Send Authorization: Bearer <token>' },
  activation: {
    status: 403,
    meaning: 'The engine is not activated',
    remedy: 'POST a license to /activation',
  },
  rights: {
    status: 403,
    meaning: 'Your role does not allow it',
    remedy: 'Ask an administrator for it, or for the role',
  },
  id: { status: 404, meaning: 'No resource has this id', remedy: 'List the resources to see their ids' },
  method: {
    status: 405,
    meaning: 'This path does not have the method',
    remedy: 'Use a method that Allow lists',
  },
  reference: {
    status: 409,
    meaning: 'Other resources refer to it',
    remedy: 'Delete those first, or use ?force=true',
  },
  conflict: {
    status: 409,
    meaning: 'It contradicts what is there already',
    remedy: 'Do what the reason says, such as taking another version',
  },
  capacity: {
    status: 409,
    meaning: 'It does not fit on this machine',
    remedy: 'Free what value names, or use ?override=capacity',
  },
  precondition: {
    status: 412,
    meaning: 'The resource has changed meanwhile',
    remedy: 'Read it again and repeat the edit',
  },
  camera: {
    status: 422,
    meaning: 'The camera shows no picture',
    remedy: 'Do what the reason says, and test it again',
  },
  size: { status: 413, meaning: 'The request is too large', remedy: 'Send at most what the reason says' },
  type: {
    status: 415,
    meaning: 'The body has another type than the operation takes',
    remedy: 'Send the Content-Type that the reason names',
  },
  internal: { status: 500, meaning: 'The engine failed', remedy: 'Report it with the engine log' },
  unavailable: {
    status: 503,
    meaning: 'A needed part is down',
    remedy: 'Try again after Retry-After seconds',
  },
} as const satisfies Record<string, { status: number; meaning: string; remedy: string }>

export type ErrorCode = keyof typeof errorTable

const codes = Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]

/** Body of every error answer. */
export const errorBody = z
  .strictObject({
    code: z.enum(codes),
    reason: z.string(),
    value: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof errorBody>

/** An error that reaches the caller as it is. `status` overrides the table's where the specification says so. */
export class EyrieError extends Error {
  readonly code: ErrorCode
  readonly value: Record<string, unknown> | undefined
  readonly status: number

  constructor(
    code: ErrorCode,
    reason: string,
    options: { value?: Record<string, unknown>; status?: number; cause?: unknown } = {},
  ) {
    super(reason, { cause: options.cause })
    this.name = 'EyrieError'
    this.code = code
    this.value = options.value
    this.status = options.status ?? errorTable[code].status
  }

  toBody(): ErrorBody {
    return { code: this.code, reason: this.message, ...(this.value && { value: this.value }) }
  }
}

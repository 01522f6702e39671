// The client library of the engine API.

export * from './engine-client.ts'
export type { OutputOptions, ReceivedMessage } from './follow-output.ts'
export * from './service-health.ts'

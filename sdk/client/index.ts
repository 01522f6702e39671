export * from './client.ts'
export * from './health.ts'
export type { OutputOptions, ReceivedMessage } from './output.ts'

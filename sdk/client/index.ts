export * from './client.ts'
export * from './health.ts'
export type { OutputOptions, Received } from './output.ts'

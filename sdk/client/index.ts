export * from './client.ts'
export type { OutputOptions, Received } from './output.ts'

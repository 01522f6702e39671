export * from './inference.ts'

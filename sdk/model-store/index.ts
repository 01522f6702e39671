export * from './quarantine.ts'
export * from './read.ts'
export * from './store.ts'

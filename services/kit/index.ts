export * from './environment.ts'
export * from './log.ts'
export * from './run.ts'
export * from './tokens.ts'

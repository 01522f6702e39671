/** The schema of the management service's Postgres database, one file for each group of tables. */

export * from './alert.ts'
export * from './audit.ts'
export * from './channel.ts'
export * from './console.ts'
export * from './device.ts'
export * from './engine.ts'
export * from './event.ts'
export * from './hierarchy.ts'
export * from './provision.ts'
export * from './sign-in.ts'
export * from './user.ts'

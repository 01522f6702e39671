export { createManagement } from './management.ts'

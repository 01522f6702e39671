import { integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, key, optionalText } from './columns.ts'
import { organization } from './hierarchy.ts'

/** Modules of the user interface, and the roles that may use them. */
export const uiModule = pgTable('ui_module', {
  module_key: text().primaryKey(),
  module_name: text().notNull(),
  module_path: optionalText(),
  roles: text().array().notNull(),
  /** Position in the imported file. */
  position: integer().notNull(),
})

export const uiComponent = pgTable(
  'ui_component',
  {
    module_key: text()
      .notNull()
      .references(() => uiModule.module_key, { onDelete: 'cascade' }),
    component_key: integer().notNull(),
    component_name: text().notNull(),
    roles: text().array().notNull(),
    position: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.module_key, table.component_key] })],
)

/** Settings of the appliance by name (`sms`, `smtp`). Their secrets are encrypted. */
export const setting = pgTable('setting', {
  name: text().primaryKey(),
  value: jsonb().notNull(),
})

/** Images uploaded by users, which are stored as files. */
export const image = pgTable('image', {
  image_id: key().primaryKey(),
  path: text().notNull().unique(),
  type: text().notNull(),
  sha256: text().notNull(),
  bytes: integer().notNull(),
  organization_id: uuid().references(() => organization.organization_id),
  created_at: createdAt(),
})

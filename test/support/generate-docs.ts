import { mkdirSync, writeFileSync } from "node:fs";
import { configurationDocument, configurationSchema } from "../../src/config/document.ts";
import { protocolDocument } from "./protocol-document.ts";

const root = new URL("../../", import.meta.url);
mkdirSync(new URL("schema/", root), { recursive: true });
mkdirSync(new URL("docs/", root), { recursive: true });
writeFileSync(new URL("CONFIGURATION.md", root), configurationDocument());
writeFileSync(new URL("schema/acp.schema.json", root), configurationSchema());
writeFileSync(new URL("docs/protocol.md", root), protocolDocument());

import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { type Planned, type Problem, planPin, planRedo, planUndo, type View, whatIsWrong } from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";
import { describeStatus, type statusViews } from "../tools/acp-status.ts";
import { showStatusLine } from "../ui/status-line.ts";
import { diagnose } from "./doctor.ts";
import { explain } from "./why.ts";

/** A subcommand: what it takes, what it does, and its answer to the user. */
interface Subcommand {
	readonly usage: string;
	readonly meaning: string;
	run(sessions: Sessions, moment: Moment, ctx: ExtensionCommandContext, argument: string): string;
}

const limitLines = 40;

const subcommands: Readonly<Record<string, Subcommand>> = {
	overview: status("overview", "", "how full the context is, and what can be folded"),
	blocks: status("blocks", "blocks", "the blocks in view"),
	ranges: status("ranges", "ranges", "what the model could fold now"),
	messages: status("messages", "messages", "the messages and blocks in view, with their sizes"),
	undo: edit("undo [b3]", "takes back the last fold, or opens a block", ({ branch }, id, view) =>
		planUndo(branch, view(), id || undefined),
	),
	redo: edit("redo", "does again what the last undo took back", ({ branch }, _argument, view) =>
		planRedo(branch, view()),
	),
	pin: edit("pin m00012", "keeps a message in view", ({ branch }, id) => planPin(branch, "pin", id)),
	unpin: edit("unpin m00012", "lets a pinned message be folded again", ({ branch }, id) =>
		planPin(branch, "unpin", id),
	),
	handover: {
		usage: "handover",
		meaning: "writes a summary from which Pi can go on without this extension",
		run: (_sessions, moment, ctx) => handOver(moment, ctx),
	},
	why: {
		usage: "why",
		meaning: "why the model was asked to fold, or was not",
		run: explain,
	},
	doctor: {
		usage: "doctor",
		meaning: "whether everything works, and what to do about what does not",
		run: (_sessions, moment) => diagnose(moment),
	},
};

const help = Object.values(subcommands)
	.map(({ usage, meaning }) => `/acp ${usage}`.padEnd(20) + meaning)
	.join("\n");

/** `/acp [subcommand]`: shows the status in the words the model gets, and lets the user correct folds. */
export function acpCommand(sessions: Sessions) {
	return {
		description: "Context folding: status, blocks, ranges, messages, undo, redo, pin, unpin, handover, why, doctor",
		getArgumentCompletions: (prefix: string) =>
			Object.keys(subcommands)
				.filter((name) => name.startsWith(prefix))
				.map((name) => ({ value: name, label: name })),
		async handler(args: string, ctx: ExtensionCommandContext): Promise<void> {
			const moment = sessions.at(ctx);
			const [name = "", argument = ""] = (args.trim() || "overview").split(/\s+/, 2);
			const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
			moment.host.notify(subcommand?.run(sessions, moment, ctx, argument) ?? help, "info");
		},
	};
}

function status(view: (typeof statusViews)[number], usage: string, meaning: string): Subcommand {
	return { usage, meaning, run: (sessions, moment) => describeStatus(sessions, moment, view, limitLines) };
}

/**
 * Lets Pi compact, which asks us for the summary. The view stays as it is: an anchor is told from the log. Pi does not ask
 * where the session is small enough for it as it is.
 */
function handOver({ session, host }: Moment, ctx: ExtensionCommandContext): string {
	if (!ctx.isIdle()) return "The model is at work; try again when it has finished.";
	session.isHandingOver = true;
	const end = (text: string) => {
		session.isHandingOver = false;
		session.log.info("handover", { text });
		host.notify(text, "info");
	};
	ctx.compact({
		onComplete: () =>
			end("Handed over: Pi goes on from here without this extension, too. Folds keep standing while it is there."),
		onError: (error) => end(`Pi needs no summary to go on without this extension: ${error.message}`),
	});
	return "Handing over …";
}

/** A subcommand that plans an operation and appends it to the log; what cannot be planned is said and changes nothing. */
function edit(
	usage: string,
	meaning: string,
	plan: (moment: Moment, argument: string, view: () => View) => Planned | Problem,
): Subcommand {
	return {
		usage,
		meaning,
		run(sessions, moment, ctx, argument) {
			// A tool may be planning on the view of this turn; what it answers has to hold when the log shows it.
			if (!ctx.isIdle()) return "The model is at work; try again when it has finished.";
			const planned = plan(moment, argument, () => sessions.view(moment));
			if ("code" in planned) return whatIsWrong(planned);
			showStatusLine(sessions, sessions.commit(ctx, planned.operation));
			moment.session.log.info("command", { kind: planned.operation.kind });
			return planned.text;
		},
	};
}

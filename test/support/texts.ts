import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));
const piFolder = "@earendil-works/pi-coding-agent";
const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const hex = "0123456789abcdef";

/** Texts of one kind, each of a few thousand characters. */
export interface TextKind {
	readonly name: string;
	readonly texts: readonly string[];
}

/** Open text of the kinds that sessions are made of, at most 40 pieces of each; the same ones every time. */
export function textKinds(): readonly TextKind[] {
	const docs = readAll(`${piFolder}/docs`, ".md");
	const types = [...readAll(`${piFolder}/dist/core`, ".d.ts"), ...readAll("typebox/build/type/types", ".d.mts")];
	const examples = readAll(`${piFolder}/examples/extensions`, ".ts");
	const next = random(20_250);
	const biome = (language: string) => pieces(read(`@biomejs/biome/README.${language}.md`), 2_000);
	const kinds: Record<string, string[]> = {
		"English prose": pieces(docs.flatMap(paragraphs).join("\n")),
		"Markdown docs": docs.flatMap((text) => pieces(text)),
		TypeScript: examples.flatMap((text) => pieces(text)),
		"type declarations": pieces(types.join("\n")),
		JSON: pieces(["package-lock.json", "biome.json", "tsconfig.json"].map((name) => read(`../${name}`)).join("\n")),
		"JSON lines of a session": pieces(sessionLines([...docs, ...examples], next).join("\n")),
		Chinese: pieces(chinese, 700),
		Japanese: pieces(japanese, 700),
		Korean: pieces(korean, 700),
		"Chinese with Latin": biome("zh-CN"),
		"Japanese with Latin": biome("ja"),
		"Korean with Latin": biome("kr"),
		hex: times(10, () => lines(60, () => characters(next, hex, 64))),
		base64: times(10, () => characters(next, base64, 4_000)),
		identifiers: times(10, () => lines(100, () => `${callId(next)} ${uuid(next)}`)),
		"server logs": times(10, () => lines(40, () => logLine(next))),
		"columns of numbers": times(10, () => lines(60, () => lines(7, () => (next(1e9) / 10 ** next(8)).toFixed(2), ","))),
		Python: pieces(python, 2_000),
		HTML: pieces(read(`${piFolder}/dist/core/export-html/template.html`)),
		emoji: times(3, () => characters(next, "😀😂🚀🔥✅❌💡📦🐛🎉👍🔧📝", 400)),
		"text with emoji": docs.flatMap(paragraphs).map((text, index) => `${[..."🚀✅🐛"][index % 3]} ${text}`),
		"fullwidth Latin": docs.flatMap(paragraphs).slice(0, 20).map(toFullwidth),
	};
	return Object.entries(kinds).map(([name, texts]) => ({ name, texts: texts.slice(0, 40) }));
}

function read(path: string): string {
	return readFileSync(modules + path, "utf8");
}

function readAll(folder: string, ending: string): string[] {
	const names = readdirSync(modules + folder).filter((name) => name.endsWith(ending));
	return names.sort().map((name) => read(`${folder}/${name}`));
}

/** Pieces of about 4 kB; a rest shorter than half a piece is dropped unless it is all there is. */
function pieces(text: string, sizeChars = 4_000): string[] {
	const count = Math.max(1, Math.round(text.length / sizeChars));
	return times(count, (index) => text.slice(index * sizeChars, (index + 1) * sizeChars));
}

/** Lines of plain prose in a Markdown text. */
function paragraphs(markdown: string): string[] {
	return markdown
		.split("\n")
		.filter((line) => /^[A-Z][a-z]/.test(line) && line.length > 100 && !/[`<|]|https?:/.test(line));
}

/** Whole numbers below a limit, the same sequence for the same seed (Numerical Recipes' generator). */
function random(seed: number): (limit: number) => number {
	let state = seed;
	return (limit) => {
		state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
		return Math.floor((state / 2 ** 32) * limit);
	};
}

function times<T>(count: number, make: (index: number) => T): T[] {
	return Array.from({ length: count }, (_, index) => make(index));
}

function lines(count: number, make: () => string, separator = "\n"): string {
	return times(count, make).join(separator);
}

function characters(next: (limit: number) => number, alphabet: string, count: number): string {
	const all = [...alphabet];
	return times(count, () => all[next(all.length)]).join("");
}

function callId(next: (limit: number) => number): string {
	return `toolu_${characters(next, base64.slice(0, 62), 24)}`;
}

function uuid(next: (limit: number) => number): string {
	return [8, 4, 4, 4, 12].map((length) => characters(next, hex, length)).join("-");
}

function logLine(next: (limit: number) => number): string {
	const time = new Date(1_700_000_000_000 + next(1e10)).toISOString();
	const level = ["INFO", "WARN", "ERROR", "DEBUG"][next(4)];
	const path = `/api/v1/users/${next(9_999)}/orders?page=${next(50)}`;
	return `${time} ${level} [worker-${next(32)}] GET ${path} ${next(600)} ${next(100_000) / 100}ms bytes=${next(1e6)} id=${characters(next, hex, 8)}`;
}

/** Entries as Pi writes them: questions, answers with a call, results that quote a file. */
function sessionLines(files: readonly string[], next: (limit: number) => number): string[] {
	return files.flatMap((text, index) => {
		const id = characters(next, hex, 8);
		const entry = {
			type: "message",
			id,
			parentId: characters(next, hex, 8),
			timestamp: new Date(1.7e12 + index * 6e4),
		};
		const call = {
			type: "toolCall",
			id: callId(next),
			name: "read",
			arguments: { path: `src/part-${index}.ts` },
		};
		const usage = {
			input: next(9_999),
			output: next(999),
			cacheRead: next(99_999),
			cacheWrite: 0,
			totalTokens: next(99_999),
		};
		return [
			{
				...entry,
				message: {
					role: "user",
					content: [{ type: "text", text: paragraphs(text)[0] ?? "go on" }],
					timestamp: 1.7e12 + index,
				},
			},
			{
				...entry,
				message: {
					role: "assistant",
					content: [{ type: "text", text: "Let me read it." }, call],
					usage,
					stopReason: "toolUse",
				},
			},
			{
				...entry,
				message: {
					role: "toolResult",
					toolCallId: call.id,
					content: [{ type: "text", text: text.slice(0, 3_000) }],
					isError: false,
				},
			},
		].map((line) => JSON.stringify(line));
	});
}

function toFullwidth(text: string): string {
	return [...text]
		.map((char) => (/[!-~]/.test(char) ? String.fromCharCode(char.charCodeAt(0) + 0xfee0) : char))
		.join("");
}

/** Chinese prose without Latin words: work on software, daily life, history, nature. */
export const chinese = `昨天下午我们终于找到了登录失败的原因。用户在移动端输入密码之后，服务器会先检查会话是否过期，然后再去数据库里核对账号。问题出在第二步：缓存里保存的是旧的密钥，而新的密钥只写进了主库，没有同步到从库，所以每隔几分钟就会有一部分请求被拒绝。
为了确认这个判断，我把最近三天的日志全部导出来，按照时间顺序重新排列，发现失败的请求都集中在从库延迟超过两秒的时候。只要延迟恢复正常，错误就会自动消失，这也解释了为什么测试环境里始终无法复现。
修复的办法有两种。第一种是在写入之后立即清空缓存，让下一次读取直接访问主库；第二种是给密钥加上版本号，读取时如果版本不一致就重新加载。前者简单，但是会增加主库的压力；后者稍微复杂一些，不过更加稳妥。讨论之后大家一致同意采用第二种方案，并且补充了相应的测试。
另外还有几件小事需要处理：配置文件里的注释已经过时，应该删掉；错误提示写得太含糊，用户看了不知道下一步该做什么；帮助文档缺少关于权限的说明。这些都不着急，可以放到下个星期再做。
清晨的菜市场总是热闹的。卖鱼的老人把木盆摆成一排，水珠溅到石板路上，闪着银色的光。旁边的小店刚刚掀开蒸笼，白色的热气一下子涌出来，带着面粉和肉馅的香味。孩子们背着书包从人群里钻过去，手里还拿着没吃完的油条。母亲在后面喊：“慢一点，别摔着！”可是谁也没有回头。
这座城市有两千多年的历史。古时候，商人从遥远的西边带来香料、玻璃和马匹，又把丝绸、瓷器和茶叶运回去。城墙几次被毁，又几次重建，如今只剩下北门还保持着原来的样子。每逢节日，人们在城楼上挂起红灯笼，远远望去，像一串熟透的果子。
科学家最近在深海里发现了一种新的细菌，它能够在没有阳光、温度极低的环境中生存，靠分解岩石中的矿物获得能量。研究人员认为，这一发现有助于我们理解地球上最早的生命是怎样产生的，也为寻找其他星球上的生命提供了线索。不过，要得出最后的结论，还需要更多的样本和更长时间的观察。
外婆的院子里有一棵枣树，比屋顶还高。秋天一到，满树都是红通通的枣子，我们拿着竹竿去打，噼里啪啦落了一地。外婆坐在门口的小凳子上，一边择菜一边笑，说今年的枣子特别甜，要留一些晒干，等过年的时候蒸糕吃。后来我去了很远的地方读书、工作，每次闻到枣子的味道，都会想起那个院子和她的笑声。
关于是否应该提前退休，专家们的意见并不统一。有人认为，人口老龄化越来越严重，延长工作年限是不可避免的；也有人指出，如果没有足够的就业机会，单纯推迟退休只会让年轻人更难找到工作。政府表示，将在充分听取各方面意见的基础上，逐步、稳妥地推进改革。
请注意：安装之前务必先备份重要的文件。如果安装过程中断电，系统可能无法启动，这时可以使用光盘或者移动硬盘里的恢复工具。恢复完成以后，请重新检查网络设置、打印机以及其他外部设备是否工作正常。若仍有疑问，欢迎随时与客服联系，我们会在两个工作日之内答复。
山路越走越窄，雾也越来越浓。向导停下来，用手杖敲了敲前面的石头，低声说：“翻过这道梁就是大本营了，不过今天的风向不对，我们最好在这里等一等。”大家放下背包，围着炉子坐成一圈，谁都没有说话，只听见帐篷外面呼呼的风声。
音乐会结束得很晚。走出剧院的时候，街上已经没有什么人了，路灯照着湿漉漉的地面，空气里有一股桂花的香气。她轻轻哼着最后那支曲子，忽然停下来问我：“你说，他当年写下这些音符的时候，有没有想过一百年以后还会有人为它流泪？”
`;

/** Japanese prose, kana and kanji: work on software, daily life, history, nature. */
export const japanese = `昨日の夕方、ようやくログインに失敗する原因がわかりました。スマートフォンでパスワードを入力すると、サーバーはまずセッションの有効期限を確かめ、そのあとでデータベースのアカウントと照合します。ところが、キャッシュに古い鍵が残ったままになっていて、新しい鍵と食い違っていたのです。
この推測を確かめるために、三日分のログをすべて書き出して、時刻の順に並べなおしました。すると、失敗したリクエストはどれも、レプリカの遅れが二秒を超えたときに集中していました。遅れが元にもどればエラーも自然に消えるので、テスト環境では一度も再現できなかったわけです。
直しかたは二つ考えられます。ひとつは書き込みの直後にキャッシュを空にして、次の読み込みを必ずマスターに向けるやりかた。もうひとつは鍵にバージョン番号をつけて、食い違っていたら読みなおすやりかたです。前のほうが簡単ですが、マスターの負担が大きくなります。話し合いの結果、あとのほうを選ぶことにして、テストもいくつか追加しました。
そのほかに、細かい作業がいくつか残っています。設定ファイルのコメントが古くなっているので消すこと、エラーメッセージがあいまいで、次に何をすればいいのかわからないこと、ヘルプに権限の説明が足りないこと。どれも急ぎではありませんから、来週にまわしてもかまいません。
朝の市場はいつもにぎやかです。魚を売るおじいさんが木のたらいを並べると、水しぶきが石だたみにはねて、きらきらと光ります。となりの店ではせいろのふたが開いて、まっ白な湯気といっしょに、おいしそうなにおいがひろがりました。ランドセルを背負った子どもたちが、人ごみのあいだをすりぬけていきます。「ゆっくり歩きなさい、ころぶわよ」とお母さんが呼びかけても、だれもふりかえりません。
この町には千年をこえる歴史があります。むかし、商人たちは遠い西の国から香料やガラスを運び、帰りには絹や焼き物やお茶を積んでいきました。城は何度も焼かれ、そのたびに建てなおされましたが、いまも当時のすがたをとどめているのは北の門だけです。祭りの夜になると、やぐらに赤いちょうちんがともり、遠くからながめると、まるで熟した柿の実のように見えます。
研究チームは、深い海の底で新しい細菌を発見したと発表した。太陽の光がとどかず、水温も低い環境で、岩にふくまれる鉱物を分解してエネルギーを得ているという。地球で最初の生命がどのように生まれたのかを知る手がかりになるうえ、ほかの星で生命をさがすヒントにもなりそうだ。ただし、結論を出すには、もっと多くのサンプルと長い観察が必要だとしている。
祖母の家の庭には、屋根よりも高いなつめの木がありました。秋になると枝がしなるほど実がなって、わたしたちは竹ざおでたたいて落としたものです。祖母は縁側にすわり、豆のすじを取りながら、にこにこ笑ってながめていました。「ことしのはとくべつ甘いから、すこし干しておいて、お正月に食べようね」。いまでもあのにおいをかぐと、庭と笑い声を思い出します。
ご注意ください。インストールをはじめる前に、かならず大切なファイルのバックアップをとってください。とちゅうで電源が切れると、システムが起動しなくなることがあります。そのときは、回復ツールの入ったディスクをお使いください。回復が終わったら、ネットワークやプリンターなどの機器が正しく動くかどうかを、もう一度お確かめください。
山道はだんだんせまくなり、霧もこくなってきた。案内人は立ちどまり、杖の先で岩をこつこつとたたいて、「この尾根をこえればベースキャンプですが、きょうは風向きがよくない。ここでしばらく待ちましょう」と小さな声で言った。みんなはリュックをおろし、こんろをかこんで輪になってすわった。だれもしゃべらず、テントの外でうなる風の音だけが聞こえていた。
コンサートが終わったのは、もう夜おそくでした。劇場を出ると、通りにはほとんど人がいません。街灯がぬれた道を照らし、どこからかきんもくせいの香りがただよってきます。彼女はさいごの曲を口ずさんでいましたが、ふと足をとめて、「あの人がこの音をかいたとき、百年あとにだれかが泣くなんて、思っていたかしら」とたずねました。
`;

/** Korean prose: work on software, daily life, history, nature. */
export const korean = `어제 오후에 드디어 로그인이 실패하는 원인을 찾았습니다. 사용자가 휴대전화에서 비밀번호를 입력하면 서버는 먼저 세션이 만료되었는지 확인한 다음 데이터베이스에서 계정을 대조합니다. 문제는 두 번째 단계에 있었습니다. 캐시에는 예전 키가 남아 있었고, 새 키는 주 데이터베이스에만 기록되어 복제본까지 전달되지 않았던 것입니다.
이 추측을 확인하기 위해 최근 사흘 동안의 로그를 모두 내보내서 시간 순서대로 다시 정렬했습니다. 실패한 요청은 모두 복제 지연이 이 초를 넘었을 때 몰려 있었습니다. 지연이 정상으로 돌아오면 오류도 저절로 사라지기 때문에 시험 환경에서는 한 번도 재현되지 않았던 것입니다.
고치는 방법은 두 가지입니다. 하나는 기록한 직후에 캐시를 비워서 다음 읽기가 주 데이터베이스로 가도록 하는 것이고, 다른 하나는 키에 버전 번호를 붙여서 서로 다르면 다시 읽어 오는 것입니다. 앞의 방법은 간단하지만 부담이 커지고, 뒤의 방법은 조금 복잡하지만 훨씬 안전합니다. 의논한 끝에 모두 두 번째 방법에 동의했고, 필요한 시험도 추가했습니다.
그 밖에도 처리해야 할 작은 일이 몇 가지 있습니다. 설정 파일의 설명이 오래되어 지워야 하고, 오류 안내가 모호해서 사용자가 다음에 무엇을 해야 할지 알 수 없으며, 도움말에는 권한에 관한 내용이 빠져 있습니다. 급한 일은 아니니 다음 주로 미루어도 괜찮습니다.
새벽 시장은 언제나 활기가 넘칩니다. 생선을 파는 할아버지가 나무 대야를 한 줄로 늘어놓으면 물방울이 돌바닥에 튀어 은빛으로 반짝입니다. 옆 가게에서는 방금 찜통 뚜껑을 열어 하얀 김이 뭉게뭉게 피어오르고, 고소한 만두 냄새가 골목 가득 퍼집니다. 책가방을 멘 아이들이 사람들 사이를 요리조리 빠져나갑니다. 어머니가 뒤에서 천천히 가라고 소리치지만 아무도 돌아보지 않습니다.
이 도시는 천 년이 넘는 역사를 지니고 있습니다. 옛날 상인들은 먼 서쪽 나라에서 향료와 유리를 가져왔고, 돌아갈 때는 비단과 도자기와 차를 싣고 갔습니다. 성벽은 여러 차례 무너지고 다시 세워졌지만 지금까지 본래 모습을 간직한 곳은 북문뿐입니다. 명절이 되면 사람들은 누각에 붉은 등불을 매답니다. 멀리서 바라보면 마치 잘 익은 감이 주렁주렁 열린 것 같습니다.
연구진은 깊은 바다 밑바닥에서 새로운 세균을 발견했다고 밝혔다. 햇빛이 닿지 않고 수온이 아주 낮은 환경에서 바위 속의 광물을 분해하여 에너지를 얻는다고 한다. 이번 발견은 지구에서 최초의 생명이 어떻게 생겨났는지 이해하는 데 도움이 되며, 다른 별에서 생명을 찾는 실마리가 될 수도 있다. 다만 결론을 내리려면 더 많은 표본과 오랜 관찰이 필요하다고 덧붙였다.
외할머니 댁 마당에는 지붕보다 높은 대추나무가 한 그루 있었습니다. 가을이 오면 가지가 휘어지도록 붉은 열매가 열렸고, 우리는 긴 장대로 나무를 두드려 대추를 땄습니다. 외할머니는 마루에 앉아 나물을 다듬으면서 빙그레 웃으셨습니다. 올해는 유난히 달콤하니 조금 말려 두었다가 설날에 떡을 찔 때 넣자고 하셨지요. 지금도 그 냄새를 맡으면 마당과 웃음소리가 떠오릅니다.
주의하십시오. 설치를 시작하기 전에 반드시 중요한 파일을 백업해 두어야 합니다. 설치 도중에 전원이 꺼지면 시스템이 시작되지 않을 수 있습니다. 그럴 때는 복구 도구가 들어 있는 디스크를 사용하십시오. 복구가 끝나면 네트워크와 프린터를 비롯한 장치가 제대로 작동하는지 다시 한번 확인하시기 바랍니다. 궁금한 점이 있으면 언제든지 고객 센터로 연락해 주십시오.
산길은 점점 좁아지고 안개도 짙어졌다. 안내인은 걸음을 멈추고 지팡이로 앞에 놓인 바위를 톡톡 두드리더니 낮은 목소리로 말했다. 이 능선만 넘으면 베이스캠프지만 오늘은 바람의 방향이 좋지 않으니 여기서 잠시 기다리는 편이 낫겠다고. 모두 배낭을 내려놓고 난로를 둘러싸고 앉았다. 아무도 입을 열지 않았고, 천막 밖에서 윙윙거리는 바람 소리만 들려왔다.
음악회는 아주 늦게 끝났다. 극장을 나서니 거리에는 사람이 거의 없었다. 가로등이 젖은 길을 비추고 어디선가 꽃향기가 풍겨 왔다. 그녀는 마지막 곡을 나지막이 흥얼거리다가 문득 멈추어 서서 물었다. 그 사람이 이 음표를 적어 내려갈 때, 백 년 뒤에 누군가 눈물을 흘리리라고 상상이나 했을까?
`;

/** A Python module with nested blocks, docstrings and comments. */
const python = `"""Keeps an index of log files and answers questions about them."""
from __future__ import annotations

import dataclasses
import datetime as dt
import logging
import re
from collections import defaultdict
from pathlib import Path
from typing import Iterable, Iterator

logger = logging.getLogger(__name__)

LINE_PATTERN = re.compile(r"^(?P<time>\\S+) (?P<level>[A-Z]+) \\[(?P<source>[^\\]]+)\\] (?P<text>.*)$")


@dataclasses.dataclass(frozen=True)
class Entry:
    time: dt.datetime
    level: str
    source: str
    text: str

    @property
    def is_problem(self) -> bool:
        return self.level in {"WARN", "ERROR", "FATAL"}

    def matches(self, words: Iterable[str]) -> bool:
        """Return True if every word occurs in the text, whatever its case."""
        lowered = self.text.lower()
        return all(word.lower() in lowered for word in words)


class LogIndex:
    def __init__(self, root: Path, max_entries: int = 10_000) -> None:
        self.root = root
        self.max_entries = max_entries
        self._by_source: dict[str, list[Entry]] = defaultdict(list)
        self._offsets: dict[Path, int] = {}

    def refresh(self) -> int:
        """Read what was appended since the last call and return the number of new entries."""
        added = 0
        for path in sorted(self.root.glob("**/*.log")):
            offset = self._offsets.get(path, 0)
            if path.stat().st_size < offset:
                logger.info("%s was truncated, reading it from the start", path)
                offset = 0
            with path.open("r", encoding="utf-8", errors="replace") as stream:
                stream.seek(offset)
                for line in stream:
                    entry = self._parse(line.rstrip("\\n"))
                    if entry is None:
                        continue
                    bucket = self._by_source[entry.source]
                    bucket.append(entry)
                    if len(bucket) > self.max_entries:
                        del bucket[: len(bucket) - self.max_entries]
                    added += 1
                self._offsets[path] = stream.tell()
        return added

    def _parse(self, line: str) -> Entry | None:
        match = LINE_PATTERN.match(line)
        if match is None:
            return None
        try:
            time = dt.datetime.fromisoformat(match["time"].replace("Z", "+00:00"))
        except ValueError:
            logger.debug("unreadable time in %r", line)
            return None
        return Entry(time=time, level=match["level"], source=match["source"], text=match["text"])

    def problems(self, since: dt.timedelta = dt.timedelta(hours=1)) -> Iterator[Entry]:
        newest = max((entries[-1].time for entries in self._by_source.values() if entries), default=None)
        if newest is None:
            return
        for entries in self._by_source.values():
            for entry in reversed(entries):
                if newest - entry.time > since:
                    break
                if entry.is_problem:
                    yield entry

    def search(self, query: str, limit: int = 20) -> list[Entry]:
        words = [word for word in re.split(r"\\s+", query) if word]
        hits: list[Entry] = []
        for source in sorted(self._by_source):
            hits.extend(entry for entry in self._by_source[source] if entry.matches(words))
        hits.sort(key=lambda entry: entry.time, reverse=True)
        return hits[:limit]


def histogram(entries: Iterable[Entry], width: int = 40) -> str:
    counts: dict[str, int] = defaultdict(int)
    for entry in entries:
        counts[entry.time.strftime("%H:%M")] += 1
    if not counts:
        return "(nothing to show)"
    highest = max(counts.values())
    rows = []
    for label, count in sorted(counts.items()):
        bar = "#" * max(1, round(count / highest * width))
        rows.append(f"{label}  {bar:<{width}}  {count:>6}")
    return "\\n".join(rows)


if __name__ == "__main__":
    index = LogIndex(Path("/var/log/service"))
    print(f"{index.refresh()} entries")
    for problem in index.problems():
        print(problem.time.isoformat(), problem.level, problem.source, problem.text, sep=" | ")
    print(histogram(index.search("timeout")))
`;
